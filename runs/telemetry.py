"""Export of run folders as OpenTelemetry spans, from their records and after the run: no call waits for it.

A run that was killed loses nothing: `--resume` exports all of it, and a span has the same id each time.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ..data.files.json_files import write_lines
from ..data.formats.record_lines import attempted
from ..data.identity import VERSION
from ..data.records import Conversation
from ..errors import SettingError
from .genai_spans import EVENT, GenAISpan, otlp, spans, trace_id

TRACES = "/v1/traces"
_SECONDS = 10.0
"""Seconds after which an endpoint counts as unreachable: OTLP's own. A server of MLflow takes eight for its first spans."""
_BATCH = 20
"""Conversations of a request without texts. With them it has one: exporters and servers drop requests that are too large."""
_BEGIN = b'{"resourceSpans"'


def is_endpoint(target: str) -> bool:
    """Whether spans are sent to an address, and not written to a file."""
    return target.startswith(("http://", "https://"))


def place_of(target: str) -> str:
    """The target in words, without the credentials of an address."""
    if not is_endpoint(target):
        return target
    address = urlsplit(target)
    return f"{address.hostname}:{address.port}" if address.port else str(address.hostname)


def check(target: str) -> None:
    """SettingError for a file of something else, an address without a host, and an endpoint without the extra `otel`."""
    if not is_endpoint(target):
        path = Path(target)
        if path.is_dir() or (path.is_file() and path.read_bytes()[: len(_BEGIN)] != _BEGIN[: path.stat().st_size]):
            raise SettingError(f"--otel: {target} exists and is not a file of spans: name another file")
        if "://" in target:
            raise SettingError(
                f"--otel: {target.partition('://')[0]!r} is not http or https: give an address or a file"
            )
    elif not urlsplit(target).hostname:
        raise SettingError("--otel: the address has no host: give http://HOST:4318 or a file")
    elif find_spec("opentelemetry") is None or find_spec("opentelemetry.exporter.otlp.proto.http") is None:
        raise SettingError('--otel: an address needs the extra otel: pip install "duologue[otel]", or give a file')


def export(folders: Iterable[Path], target: str, *, contents: bool = False) -> str:
    """Export the conversations of run folders, also those that were cut short; gives a line about it.

    It never raises an error: what failed is in the line.
    """
    records = (conversation for folder in folders for conversation in attempted(folder))
    count = 0
    try:
        if is_endpoint(target):
            size = 1 if contents else _BATCH
            for batch in iter(lambda: list(islice(records, size)), []):
                if not _sent(target, batch, contents=contents):
                    return f"--otel: {place_of(target)} did not take the spans: --resume sends them again"
                count += len(batch)
        else:
            counted: list[None] = []
            write_lines(target, _lines(records, counted, contents=contents))
            count = len(counted)
    except Exception as error:  # the run is over and in order, whatever an exporter or a disk does
        return (
            f"--otel: the spans were not exported to {place_of(target)} ({type(error).__name__}): --resume tries again"
        )
    return f"spans of {count} conversation{'' if count == 1 else 's'} exported to {place_of(target)}"


def _lines(records: Iterable[Conversation], counted: list[None], *, contents: bool) -> Iterator[Mapping[str, Any]]:
    for conversation in records:
        counted.append(None)
        yield otlp(conversation, contents=contents)


def _sent(target: str, batch: Sequence[Conversation], *, contents: bool) -> bool:
    """Send the spans of some conversations; whether the endpoint took them."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace.export import SpanExportResult

    logging.getLogger("opentelemetry.exporter").setLevel(logging.CRITICAL)  # one line of ours says it
    address = target if urlsplit(target).path.strip("/") else target.rstrip("/") + TRACES
    resource = Resource({"service.name": "duologue", "service.version": VERSION})
    exporter = OTLPSpanExporter(endpoint=address, timeout=_SECONDS)
    try:
        listed = [
            _readable(trace_id(conversation), span, resource)
            for conversation in batch
            for span in spans(conversation, contents=contents)
        ]
        return bool(exporter.export(listed) == SpanExportResult.SUCCESS)
    finally:
        exporter.shutdown()


def _readable(trace: str, span: GenAISpan, resource: Any) -> Any:
    """The span as the SDK's exporter takes it."""
    from opentelemetry.sdk.trace import Event, ReadableSpan
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope
    from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

    def context(own: str) -> SpanContext:
        return SpanContext(int(trace, 16), int(own, 16), is_remote=False, trace_flags=TraceFlags(1))

    return ReadableSpan(
        name=span.name,
        context=context(span.id),
        parent=context(span.parent) if span.parent else None,
        resource=resource,
        attributes=span.attributes,
        events=[Event(EVENT, event, span.end) for event in span.events],
        kind=SpanKind.CLIENT if span.kind == "client" else SpanKind.INTERNAL,
        status=Status(StatusCode.ERROR if span.failed else StatusCode.UNSET),
        start_time=span.begin,
        end_time=span.end,
        instrumentation_scope=InstrumentationScope("duologue", VERSION),
    )
