# PYTHON_ARGCOMPLETE_OK
"""``raisim_ros``: look at, run, draw and convert worlds, robots, meshes and recordings."""

from __future__ import annotations

import argparse
import io
import math
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from raisim_ros.cli.convert import FORMATS, convert_file
from raisim_ros.cli.info import describe_recording, describe_world
from raisim_ros.cli.open_file import check_output, open_world
from raisim_ros.description.atomic_file import writing
from raisim_ros.description.errors import InvalidValueError, RaisimError
from raisim_ros.description.file_kind import RECORDING, kind_of
from raisim_ros.engine.world.world import World
from raisim_ros.viewer.scene import AUTO, BASES

FILE_HELP = "world file (XML), MJCF, URDF, xacro, mesh or recording (.raisim)"


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; the exit code: 0, or 2 with a sentence about what went wrong."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names of files and objects are not always text
    parser = make_parser()
    try:
        import argcomplete

        argcomplete.autocomplete(parser)
    except ImportError:
        pass  # tab completion is a comfort
    options = parser.parse_args(_with_values(parser, sys.argv[1:] if arguments is None else arguments))
    try:
        options.run(options)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:  # whoever read it has enough, as `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 128 + signal.SIGPIPE
    except (RaisimError, OSError, ImportError) as error:
        print(f"raisim_ros {options.command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


def _with_values(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> Sequence[str]:
    """The arguments; ``--option=--`` is refused, of which argparse makes an empty list."""
    for one in arguments:
        if one.startswith("-") and one.endswith("=--"):
            parser.error(f"argument {one.removesuffix('=--')}: expected a value")
    return arguments


def make_parser() -> argparse.ArgumentParser:
    """All commands and their options."""
    parser = argparse.ArgumentParser("raisim_ros", description=__doc__.split(": ", 1)[1] if __doc__ else None)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name: str, run: Callable[[argparse.Namespace], None], text: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(run=run)
        return command

    view = add("view", _view, "Show a file in the browser, with hands on it")
    view.add_argument("file", help=FILE_HELP)
    view.add_argument("--host", default="127.0.0.1", help="address of the page; 0.0.0.0 lets other machines in")
    view.add_argument("--port", type=_port, default=8080, help="port of the page; when it is taken, the next free one")
    view.add_argument("--paused", action="store_true", help="do not start to run at once")
    view.add_argument("--seconds", type=_positive, help="end after so much wall time")
    view.add_argument("--compare", metavar="OTHER.raisim", help="of a recording: a second run, shown as ghosts")

    info = add("info", _info, "Tell what a file holds: objects, tree, masses, limits, shapes, warnings")
    info.add_argument("file", help=FILE_HELP)

    check = add("check", _check, "Report what about robots may be a mistake or cost time, and what to do about it")
    check.add_argument("file", help=FILE_HELP)

    run = add("run", _run, "Run a world without a viewer, as fast as possible")
    run.add_argument("file", help=FILE_HELP)
    run.add_argument("--seconds", type=_positive, default=10.0, help="simulated time [s] (default 10)")
    run.add_argument("--record", metavar="OUT.raisim", help="write a recording")
    run.add_argument("--rate", type=_positive, default=60.0, help="frames of the recording per second (default 60)")

    render = add("render", _render, "Draw a picture (PNG), a film (GIF, MP4) or a page (HTML) without a display")
    render.add_argument("file", help=FILE_HELP)
    render.add_argument("out", help="OUT.png, OUT.gif, OUT.mp4, or OUT.html for a recording")
    render.add_argument("--seconds", type=_moment, help="length of a film; for a picture, when it is taken [s]")
    render.add_argument("--rate", type=_positive, default=25.0, help="pictures per second (default 25)")
    render.add_argument("--size", type=_size, default=(640, 360), metavar="WxH", help="pixels (default 640x360)")
    render.add_argument("--from", dest="position", type=_point, metavar="X,Y,Z", help="where the camera is [m]")
    render.add_argument(
        "--to", dest="look_at", type=_point, metavar="X,Y,Z", help="what it looks at from there (default 0,0,0.5)"
    )
    render.add_argument("--quality", choices=("draft", "good", "best"), default="good")

    convert = add("convert", _convert, "Write a robot or world as URDF, MJCF, XML, a mesh as OBJ, a recording as MCAP")
    convert.add_argument("source", help=FILE_HELP)
    outputs = "OUT.urdf, OUT.mjcf.xml (for MuJoCo), OUT.xml (a world file), OUT.obj, OUT.mcap (ros2 bag)"
    convert.add_argument("out", help=outputs)
    convert.add_argument("--to", choices=FORMATS, help="what to write, whatever the name of the file ends with")

    bench = add("bench", _bench, "Tell how fast a world steps on this machine, and where the time goes")
    bench.add_argument("file", nargs="?", help="default: the world of `make run`")
    bench.add_argument("--seconds", type=_positive, default=5.0, help="simulated time [s] (default 5)")
    for command in (view, run, render, bench):
        command.add_argument("--limp", action="store_true", help="a robot file: without the gains that hold its pose")
        command.add_argument("--base", choices=BASES, default=AUTO, help="of a robot file (default: auto)")
    for command in commands.choices.values():
        if command.prog.split()[-1] in ("view", "info", "check", "run", "render", "bench"):
            command.add_argument(
                "--param", action="append", default=[], type=_param, metavar="NAME=VALUE", help="of the file's @@NAME"
            )
    return parser


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.lower().partition("x")
    if not (width.isdigit() and height.isdigit()):
        raise argparse.ArgumentTypeError(f"'{text}' is not WIDTHxHEIGHT, as 640x360")
    return int(width), int(height)


def _point(text: str) -> tuple[float, float, float]:
    try:
        x, y, z = (float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not X,Y,Z, as 3,-2,1.5") from None
    return x, y, z


def _positive(text: str) -> float:
    value = _moment(text)
    if value == 0.0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number above 0")
    return value


def _moment(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 <= value < 1e9:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of at least 0")
    return value


def _port(text: str) -> int:
    if not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"'{text}' is not a port, 0 to 65535 (0: any that is free)")
    return int(text)


def _param(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator:
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=VALUE")
    return name, value


def _opened(options: argparse.Namespace) -> World:
    return _opened_and_told(options)[0]


def _opened_and_told(options: argparse.Namespace) -> tuple[World, int]:
    """The world of the file, and how many warnings were printed."""
    hold = not getattr(options, "limp", True)
    world, told = open_world(options.file, dict(options.param), hold=hold, base=getattr(options, "base", AUTO))
    for text in told:
        print(f"warning: {text}", file=sys.stderr)
    return world, len(told)


class _Progress:
    """A line that tells how far long work is, when a person looks."""

    def __init__(self, what: str) -> None:
        self._what, self._shown = what, sys.stderr is not None and sys.stderr.isatty()

    def __call__(self, share: float) -> None:
        if self._shown:
            filled = round(30 * share)
            end = "\n" if share >= 1.0 else ""
            line = f"\r{self._what} [{'#' * filled}{'.' * (30 - filled)}] {share:4.0%}"
            print(line, end=end, file=sys.stderr, flush=True)


# ---- commands ----


def _view(options: argparse.Namespace) -> None:
    from raisim_ros.viewer.viewer import Page, Viewer

    if options.compare and {kind_of(options.file), kind_of(options.compare)} != {RECORDING}:
        raise InvalidValueError("--compare takes two recordings; make one with `raisim_ros run WORLD --record`")
    if kind_of(options.file) == RECORDING:
        from raisim_ros.viewer.comparison import ComparisonFeed
        from raisim_ros.viewer.recording import Recording, RecordingFeed

        recording = Recording(options.file)
        feed = ComparisonFeed(recording, Recording(options.compare)) if options.compare else RecordingFeed(recording)
        page: Page = Page(feed, options.host, options.port)
        if not options.paused:
            feed.play()
    else:
        page = viewer = Viewer(_opened(options), options.host, options.port)
        if not options.paused:
            viewer.play()
    print("stop with Ctrl-C", flush=True)
    end = time.monotonic() + options.seconds if options.seconds is not None else None
    try:
        while end is None or time.monotonic() < end:
            time.sleep(0.05)
    finally:
        page.close()


def _info(options: argparse.Namespace) -> None:
    kind = kind_of(options.file)
    print(f"{options.file}: {kind}")
    if kind == RECORDING:
        from raisim_ros.viewer.recording import Recording

        print("\n".join(describe_recording(Recording(options.file))))
        return
    world, told = open_world(options.file, dict(options.param))
    print("\n".join(describe_world(world)))
    for text in told:
        print(f"warning: {text}")


def _check(options: argparse.Namespace) -> None:
    world, warned = _opened_and_told(options)
    findings = world.check()
    for finding in findings:
        print(finding)
    warnings = f", {_counted_as(warned, 'warning')}" if warned else ""
    print(f"{options.file}: {_counted_as(len(findings), 'finding')}{warnings}")


def _counted_as(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _run(options: argparse.Namespace) -> None:
    if options.record:
        check_output(options.record, options.file)
    world = _opened(options)
    if options.record:
        world.start_recording(options.record, options.rate)
    steps = max(1, round(options.seconds / world.get_time_step()))
    progress, started, chunk = _Progress("running"), time.perf_counter(), max(1, steps // 100)
    try:
        for done in range(0, steps, chunk):
            world.integrate(min(chunk, steps - done))
            progress(min(1.0, (done + chunk) / steps))
    finally:
        world.stop_recording()
    taken = time.perf_counter() - started
    print(f"{steps} steps, {world.get_world_time():.3f} s in {taken:.2f} s: {options.seconds / taken:.3g} x real time")


def _render(options: argparse.Namespace) -> None:
    from raisim_ros.viewer.export import FILM_SUFFIXES, frames_of, write_film, write_page
    from raisim_ros.viewer.recording import Recording
    from raisim_ros.viewer.scene import View

    check_output(options.out, options.file)
    recorded = kind_of(options.file) == RECORDING
    source = Recording(options.file) if recorded else _opened(options)
    suffix = Path(options.out).suffix.lower()
    width, height = options.size
    if options.look_at and not options.position:
        raise InvalidValueError("--to needs --from: where the camera is")
    view = View(options.position, options.look_at or (0.0, 0.0, 0.5)) if options.position else None

    def draw(world: World) -> Any:
        return world.render(view, width, height, options.quality)

    if suffix == ".html":
        if not isinstance(source, Recording):
            raise InvalidValueError("a page is made of a recording; make one with `raisim_ros run WORLD --record`")
        write_page(source, options.out, options.rate, _Progress("writing"))
    elif suffix in FILM_SUFFIXES:
        seconds = options.seconds
        total = round((seconds if seconds is not None else 2.0) * options.rate) + 1
        write_film(options.out, _counted(map(draw, frames_of(source, seconds, options.rate)), total), options.rate)
    elif suffix == ".png":
        from PIL import Image

        with writing(options.out) as file:
            Image.fromarray(draw(_at(source, options.seconds or 0.0))).save(file, optimize=True)
    else:
        raise InvalidValueError(f"'{options.out}': expected a name that ends with .png, .gif, .mp4 or .html")


def _at(source: Any, seconds: float) -> World:
    if isinstance(source, World):
        source.integrate(round(seconds / source.get_time_step()))
        return source
    world: World = source.world(source.frame_at(float(source.times[0]) + seconds))
    return world


def _counted(pictures: Iterator[Any], total: int) -> Iterator[Any]:
    progress = _Progress("drawing")
    for number, picture in enumerate(pictures):
        progress(min(1.0, (number + 1) / total))
        yield picture


def _convert(options: argparse.Namespace) -> None:
    for text in convert_file(options.source, options.out, options.to):
        print(f"warning: {text}", file=sys.stderr)


def _bench(options: argparse.Namespace) -> None:
    if options.file is None:
        from raisim_ros.description.resources import resource

        options.file = str(resource("worlds/default.xml"))
    world = _opened(options)
    steps = max(1, round(options.seconds / world.get_time_step()))
    world.set_profiling(True)
    started = time.perf_counter()
    world.integrate(steps)
    taken = time.perf_counter() - started
    profile = world.get_profile()
    print(f"{options.file}: {len(world.get_obj_list())} objects, {steps} steps of {world.get_time_step():g} s")
    print(f"{steps / taken:,.0f} steps per second, {options.seconds / taken:.3g} x real time")
    for stage, spent in sorted(profile.microseconds().items(), key=lambda one: -one[1]):
        print(f"  {stage:15} {spent:9.2f} µs per step")


if __name__ == "__main__":
    sys.exit(main())
