"""Requests run on the stepping thread, in order, and their outcome returns to the caller."""

import threading

import pytest

from raisim_ros.ros.request_queue import QueueClosedError, RequestQueue


@pytest.fixture
def served_queue():
    """A queue with a thread that carries out its requests."""
    queue, stop = RequestQueue(), threading.Event()

    def serve():
        while not stop.is_set():
            queue.wait(1.0)
            queue.run_pending()

    thread = threading.Thread(target=serve)
    thread.start()
    yield queue
    stop.set()
    queue.close()
    thread.join(5.0)
    assert not thread.is_alive()


def test_call_returns_the_result_from_the_other_thread(served_queue):
    assert served_queue.call(threading.get_ident) != threading.get_ident()


def test_call_raises_what_the_request_raised_and_the_queue_goes_on(served_queue):
    def fail():
        raise ValueError("mass is negative")

    with pytest.raises(ValueError, match="mass is negative"):
        served_queue.call(fail)
    assert served_queue.call(lambda: 7) == 7


def test_requests_run_in_order():
    queue, done = RequestQueue(), []
    for number in range(100):
        queue.post(lambda number=number: done.append(number))
    assert not done
    queue.run_pending()
    assert done == list(range(100))


def test_wait_ends_at_a_request(served_queue):
    for _ in range(50):
        assert served_queue.post(lambda: True).result(timeout=0.9)


def test_closing_refuses_queued_and_later_requests():
    queue = RequestQueue()
    queued = queue.post(lambda: None)
    queue.close()
    with pytest.raises(QueueClosedError):
        queued.result(timeout=0)
    with pytest.raises(QueueClosedError):
        queue.call(lambda: None)
    queue.wait(60.0)
