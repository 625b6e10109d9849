"""Films and pages of worlds and recordings, without a display."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from raisim_ros.description.atomic_file import write_file, writing
from raisim_ros.description.errors import InvalidValueError
from raisim_ros.engine.world.world import World
from raisim_ros.viewer.recording import Recording, RecordingFeed

Picture = NDArray[np.uint8]
FILM_SUFFIXES = (".gif", ".mp4")
# Colours of a GIF; fewer make smaller files.
GIF_COLORS = 200
# Of what sensors see, so many points are in a page.
MOST_POINTS = 5000
LEAST_RATE, MOST_RATE = 1e-3, 1e6  # pictures per second


def frames_of(source: World | Recording, seconds: float | None, rate: float) -> Iterator[World]:
    """The world at equal times: it is stepped, or it is that of the recording's frames."""
    if isinstance(source, Recording):
        start, end = float(source.times[0]), float(source.times[-1])
        length = end - start if seconds is None else min(seconds, end - start)
        for k in range(round(length * rate) + 1):
            yield source.world(source.frame_at(start + k / rate))
        return
    start = source.get_world_time()
    for k in range(round((2.0 if seconds is None else seconds) * rate) + 1):
        left = start + k / rate - source.get_world_time()
        source.integrate(max(0, round(left / source.get_time_step())))
        yield source


def write_film(path: str | Path, pictures: Iterator[Picture], rate: float) -> None:
    """Write a GIF or MP4 file (that needs the package imageio-ffmpeg)."""
    if not LEAST_RATE <= rate <= MOST_RATE:
        raise InvalidValueError(f"rate is {rate:g}; expected {LEAST_RATE:g} to {MOST_RATE:g} pictures per second")
    suffix = Path(path).suffix.lower()
    if suffix == ".gif":
        with writing(path) as file:
            _write_gif(file, pictures, rate)
    elif suffix == ".mp4":
        with writing(path) as file:
            _write_mp4(file, pictures, rate)
    else:
        raise InvalidValueError(f"'{path}' is no film; expected a name that ends with {' or '.join(FILM_SUFFIXES)}")


def _write_gif(path: Path, pictures: Iterator[Picture], rate: float) -> None:
    images = [Image.fromarray(picture) for picture in pictures]
    # One palette for all: nothing flickers, and what stands still costs nothing.
    sheet = Image.new("RGB", (images[0].width, images[0].height * min(len(images), 8)))
    for row, number in enumerate(np.linspace(0, len(images) - 1, min(len(images), 8)).astype(int)):
        sheet.paste(images[number], (0, row * images[0].height))
    palette = sheet.quantize(GIF_COLORS, Image.Quantize.MEDIANCUT)
    reduced = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    pause = round(1000.0 / rate)
    reduced[0].save(path, save_all=True, append_images=reduced[1:], duration=pause, loop=0, optimize=True)


def _write_mp4(path: Path, pictures: Iterator[Picture], rate: float) -> None:
    try:
        import imageio_ffmpeg
    except ImportError as error:
        raise InvalidValueError("MP4 films need imageio-ffmpeg: pip install 'raisim_ros[record]'") from error
    first = next(pictures)
    height, width = first.shape[:2]
    # The codec wants even sizes; FFmpeg's wrapper would stretch all that are no multiples of 16.
    size = (width - width % 2, height - height % 2)
    writer = imageio_ffmpeg.write_frames(str(path), size, fps=rate, quality=8, macro_block_size=2)
    writer.send(None)
    sent = 0
    for picture in _after(first, pictures):
        writer.send(np.ascontiguousarray(picture[: height - height % 2, : width - width % 2]))
        sent += 1
    writer.close()
    try:  # a full disk is told by nobody: FFmpeg ends without a word
        written, _ = imageio_ffmpeg.count_frames_and_secs(str(path))
    except RuntimeError as error:
        raise OSError("FFmpeg could not write it") from error
    if written != sent:
        raise OSError(f"FFmpeg wrote {written} of {sent} pictures")


def _after(first: Picture, rest: Iterator[Picture]) -> Iterator[Picture]:
    yield first
    yield from rest


def write_page(
    recording: Recording, path: str | Path, rate: float = 30.0, tell: Callable[[float], Any] | None = None
) -> None:
    """Write a page (HTML) that plays a recording in any browser, without a server; `tell` hears the share done."""
    try:
        import viser
    except ImportError as error:
        raise InvalidValueError("pages need the package viser: pip install 'raisim_ros[viewer]'") from error
    from raisim_ros.viewer.canvas import FIELD_OF_VIEW, Canvas
    from raisim_ros.viewer.scene import Wanted, first_view

    with contextlib.redirect_stdout(io.StringIO()):
        server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    try:
        feed, canvas = RecordingFeed(recording), Canvas(server)
        start, end = feed.timeline()
        model = feed.model()
        canvas.draw(model)
        wanted = Wanted(points=True)
        first = feed.moment(wanted)
        view, _ = first_view(model, first.poses, feed.viewpoint())
        canvas.set_distance(float(np.linalg.norm(np.subtract(view.position, view.look_at))))
        camera = server.initial_camera
        camera.fov, camera.up = FIELD_OF_VIEW, (0.0, 0.0, 1.0)
        camera.position, camera.look_at = view.position, view.look_at
        count = round((end - start) * rate) + 1
        number, serializer = first.number, server.get_scene_serializer()
        for k in range(count):
            feed.seek(start + k / rate)
            moment = feed.moment(wanted)
            if moment.number != number:
                number = moment.number
                canvas.draw(feed.model())
            thin = moment.points[:: 1 + len(moment.points) // MOST_POINTS]
            canvas.show(replace(moment, points=thin), None, np.zeros((0, 3)))
            serializer.insert_sleep(1.0 / rate)
            if tell is not None:
                tell((k + 1) / count)
        write_file(path, serializer.as_html().encode())
    finally:
        with contextlib.redirect_stdout(io.StringIO()):
            server.stop()
