"""One log line per kind and second."""

from raisim_ros.ros.node.throttled_log import ThrottledLog


def test_lines_of_one_kind_are_thinned_and_kinds_do_not_disturb_each_other():
    now, lines = [0.0], []
    log = ThrottledLog(lines.append, 1.0, lambda: now[0])
    for _ in range(20):
        log("a", f"a at {now[0]:g}")
        log("b", f"b at {now[0]:g}")
        now[0] += 0.125
    assert [line for line in lines if line.startswith("a")] == ["a at 0", "a at 1", "a at 2"]
    assert len(lines) == 6


def test_many_kinds_do_not_fill_the_memory():
    lines = []
    log = ThrottledLog(lines.append)
    for kind in range(5 * ThrottledLog.MAX_KINDS):
        log(kind, "line")
    assert len(lines) == 5 * ThrottledLog.MAX_KINDS
    assert len(log._last) <= ThrottledLog.MAX_KINDS
