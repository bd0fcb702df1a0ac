"""Where a command may write: `--output FILE`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overrun.exits import CommandFailed, Exit

if TYPE_CHECKING:
    from pathlib import Path

    from overrun.config import Config


def usable_output(output: Path, config: Config) -> Path:
    """Return where to write; raises CommandFailed for a device, and for a file that Overrun lives by.

    /dev/stdout may lead to a regular file, which must not be replaced under the shell that holds it.
    """
    target = output.absolute().resolve()
    is_device = output.absolute().parts[1:2] in {("dev",), ("proc",)} or (target.exists() and not target.is_file())
    if is_device:
        raise CommandFailed(f"{output} is not a file", code=Exit.USAGE, hint="leave --output out to write to stdout")
    own = {config.file, config.warehouse.path, config.publish, config.state, config.lock}
    own |= {publication.path for publication in config.publications}
    if target in {path.resolve() for path in own} or config.landing.resolve() in target.parents:
        raise CommandFailed(
            f"{output} belongs to Overrun itself", code=Exit.USAGE, hint="name another file with --output"
        )
    if not target.parent.is_dir():
        raise CommandFailed(
            f"there is no folder {target.parent}", code=Exit.USAGE, hint="make it, or name another file"
        )
    return target
