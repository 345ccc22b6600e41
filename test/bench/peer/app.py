# The benchmark's peer: the same three endpoints on the same tables, built for speed as FastAPI's documentation
# recommends. Response models (serialized by pydantic in Rust), asyncpg with prepared statements, one connection per
# request. Run by test/bench/servers.ts: uvicorn app:app, one process.
import hashlib
import os
import re
import time
import uuid
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Annotated, Any, Literal

import asyncpg
import orjson
from fastapi import Depends, FastAPI, Header, HTTPException, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import AfterValidator, BaseModel, Field, StringConstraints, model_validator

Status = Literal["pending", "queued", "running", "cancelling", "completed", "failed", "cancelled"]


class TrainingJob(BaseModel):
    id: uuid.UUID
    tenant_id: uuid.UUID
    dataset_id: uuid.UUID
    annotation_set_id: uuid.UUID
    config: dict[str, Any]
    status: Status
    status_message: str | None
    progress_percent: int
    metrics: dict[str, Any] | None
    error_message: str | None
    platform_job_name: str | None
    created_at: datetime
    queued_at: datetime | None
    started_at: datetime | None
    completed_at: datetime | None


class TrainingJobs(BaseModel):
    items: list[TrainingJob]
    total: int
    page: int
    page_size: int
    has_more: bool


class Annotation(BaseModel):
    id: uuid.UUID
    annotation_set_id: uuid.UUID
    audio_file_id: uuid.UUID
    artifact_type: str
    start_ms: int
    end_ms: int
    confidence: float
    extra_data: dict[str, Any]
    annotator: str | None
    created_at: datetime
    updated_at: datetime


class AnnotationSet(BaseModel):
    id: uuid.UUID
    dataset_id: uuid.UUID
    version: int
    status: Literal["draft", "published"]
    total_annotations: int
    total_positive_duration_ms: int
    annotations_by_type: dict[str, int]
    copying: None = None
    created_at: datetime
    published_at: datetime | None
    annotations: list[Annotation]


class CreatedAnnotations(BaseModel):
    items: list[Annotation]
    total: int


def depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(depth, value), default=0)
    return 0


def small(value: dict[str, Any]) -> dict[str, Any]:
    text = orjson.dumps(value)
    if len(text) > 4096:
        raise ValueError("extra_data takes at most 4096 bytes of JSON")
    if b"\\u0000" in text:
        raise ValueError("text must not contain NUL characters")
    if depth(value) > 5:
        raise ValueError("extra_data nests at most 5 levels")
    return value


Place = Annotated[int, Field(ge=0, le=12 * 3_600_000 + 50, strict=True)]
TypeName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9 _.-]{0,63}$")]


class NewAnnotation(BaseModel):
    audio_file_id: uuid.UUID
    artifact_type: TypeName
    start_ms: Place
    end_ms: Place
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0
    extra_data: Annotated[dict[str, Any], AfterValidator(small)] = Field(default_factory=dict)
    annotator: Annotated[str, StringConstraints(min_length=1, max_length=255)] | None = None

    @model_validator(mode="after")
    def in_order(self) -> "NewAnnotation":
        if self.start_ms > self.end_ms:
            raise ValueError("end_ms must not be less than start_ms")
        return self


class NewAnnotations(BaseModel):
    annotations: Annotated[list[NewAnnotation], Field(min_length=1, max_length=1000)]


async def prepare(connection: asyncpg.Connection) -> None:
    await connection.set_type_codec(
        "jsonb", encoder=lambda value: orjson.dumps(value).decode(), decoder=orjson.loads, schema="pg_catalog"
    )


async def leave(_: asyncpg.Connection) -> None:
    """No statement leaves state in a session, so the pool's RESET would only cost a round trip."""


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    size = int(os.environ["PEER_POOL"])
    async with asyncpg.create_pool(
        os.environ["PEER_DATABASE_URL"], min_size=size, max_size=size, init=prepare, reset=leave
    ) as pool:
        app.state.pool = pool
        yield


app = FastAPI(lifespan=lifespan)

key_form = re.compile(r"pl_[0-9A-Za-z]{46}")
digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def checksum(text: str) -> str:
    rest = zlib.crc32(text.encode())
    found = ""
    for _ in range(6):
        rest, digit = divmod(rest, 62)
        found = digits[digit] + found
    return found


class Caller:
    __slots__ = ("connection", "tenant_id")

    def __init__(self, connection: asyncpg.Connection, tenant_id: uuid.UUID) -> None:
        self.connection = connection
        self.tenant_id = tenant_id


async def authenticated(request: Request, x_api_key: Annotated[str | None, Header()] = None) -> AsyncIterator[Caller]:
    key = x_api_key or ""
    if not key_form.fullmatch(key) or checksum(key[:43]) != key[43:]:
        raise HTTPException(401, "Invalid or missing API key")
    async with request.app.state.pool.acquire() as connection:
        row = await connection.fetchrow(
            """select k.id, k.tenant_id, coalesce(k.expires_at <= now(), false) as expired,
                 t.suspended_at is not null as suspended
               from api_keys k join tenants t on t.id = k.tenant_id
               where k.key_hash = $1 and k.revoked_at is null""",
            hashlib.sha256(key.encode()).digest(),
        )
        if row is None:
            raise HTTPException(401, "Invalid or missing API key")
        if row["expired"]:
            raise HTTPException(401, "API key expired")
        if row["suspended"]:
            raise HTTPException(403, "This account is suspended")
        yield Caller(connection, row["tenant_id"])


Authenticated = Annotated[Caller, Depends(authenticated)]


@app.get("/api/v1/training-jobs")
async def list_training_jobs(
    caller: Authenticated,
    page: Annotated[int, Query(ge=1)] = 1,
    page_size: Annotated[int, Query(ge=1, le=100)] = 20,
    status: Annotated[list[Status] | None, Query()] = None,
    dataset_id: uuid.UUID | None = None,
) -> TrainingJobs:
    where = "tenant_id = $1"
    values: list[Any] = [caller.tenant_id]
    if status is not None:
        values.append(status)
        where += f" and status = any(${len(values)})"
    if dataset_id is not None:
        values.append(dataset_id)
        where += f" and dataset_id = ${len(values)}"
    rows = await caller.connection.fetch(
        f"""select id, tenant_id, dataset_id, annotation_set_id, config, status, status_message, progress_percent,
              metrics, error_message, platform_job_name, created_at, queued_at, started_at, completed_at
            from training_jobs where {where} order by created_at desc, id desc
            limit ${len(values) + 1} offset ${len(values) + 2}""",
        *values,
        page_size,
        (page - 1) * page_size,
    )
    total = await caller.connection.fetchval(f"select count(*) from training_jobs where {where}", *values)
    return {
        "items": [dict(row) for row in rows],
        "total": total,
        "page": page,
        "page_size": page_size,
        "has_more": page * page_size < total,
    }


@app.get("/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}")
async def read_annotation_set(caller: Authenticated, dataset_id: uuid.UUID, annotation_set_id: uuid.UUID) -> AnnotationSet:
    found = await caller.connection.fetchrow(
        """select id, dataset_id, version, status, total_annotations, total_positive_duration_ms, annotations_by_type,
             created_at, published_at
           from annotation_sets where tenant_id = $1 and dataset_id = $2 and id = $3""",
        caller.tenant_id,
        dataset_id,
        annotation_set_id,
    )
    if found is None:
        raise HTTPException(404, "Annotation set not found")
    members = dict(found)
    rows = await caller.connection.fetch(
        """select id, annotation_set_id, audio_file_id, artifact_type, start_ms, end_ms, confidence, extra_data,
             annotator, created_at, coalesce(updated_at, created_at) as updated_at
           from annotations where tenant_id = $1 and annotation_set_id = $2
           order by audio_file_id, start_ms, id""",
        caller.tenant_id,
        annotation_set_id,
    )
    return {**members, "annotations": [dict(row) for row in rows]}


def fault(index: int, member: str, msg: str) -> dict[str, Any]:
    loc = ("body", "annotations", index, member)
    return {"loc": loc, "msg": f"Value error, {msg}", "type": "value_error"}


def new_ids(count: int) -> list[uuid.UUID]:
    """UUIDs of version 7, as the API generates them, so that both servers fill the index in the same way."""
    head = (time.time_ns() // 1_000_000) << 80 | 0x7 << 76 | 0b10 << 62
    random = os.urandom(8 * count)
    mask = (1 << 62) - 1
    return [uuid.UUID(int=head | (i & 0xFFF) << 64 | int.from_bytes(random[8 * i : 8 * i + 8]) & mask) for i in range(count)]


@app.post("/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/annotations/bulk", status_code=201)
async def create_annotations(
    caller: Authenticated, dataset_id: uuid.UUID, annotation_set_id: uuid.UUID, body: NewAnnotations
) -> CreatedAnnotations:
    lines = body.annotations
    connection = caller.connection
    async with connection.transaction():
        found = await connection.fetchrow(
            "select status from annotation_sets where tenant_id = $1 and dataset_id = $2 and id = $3 for share",
            caller.tenant_id,
            dataset_id,
            annotation_set_id,
        )
        if found is None:
            raise HTTPException(404, "Annotation set not found")
        if found["status"] == "published":
            raise HTTPException(409, "The annotation set is published and cannot be changed")
        artifact_types = await connection.fetchval(
            "select artifact_types from datasets where tenant_id = $1 and id = $2 for share",
            caller.tenant_id,
            dataset_id,
        )
        known = {entry["name"] for entry in artifact_types}
        files = await connection.fetch(
            """select id, duration_ms from audio_files where tenant_id = $1 and dataset_id = $2 and id = any($3)
                 and status <> 'expired' for key share""",
            caller.tenant_id,
            dataset_id,
            list({line.audio_file_id for line in lines}),
        )
        lengths = {row["id"]: row["duration_ms"] for row in files}
        faults = []
        for i, line in enumerate(lines):
            if line.audio_file_id not in lengths:
                faults.append(fault(i, "audio_file_id", "the dataset has no such audio file"))
            else:
                length = lengths[line.audio_file_id]
                if length is not None and line.end_ms > length + 50:
                    faults.append(fault(i, "end_ms", f"the audio file ends at {length} ms"))
            if line.artifact_type not in known:
                faults.append(fault(i, "artifact_type", "the dataset has no such artifact type"))
        if faults:
            raise RequestValidationError(faults)
        rows = await connection.fetch(
            """insert into annotations (id, tenant_id, dataset_id, annotation_set_id, audio_file_id, artifact_type,
                 start_ms, end_ms, confidence, extra_data, annotator)
               select id, $1, $2, $3, audio_file_id, artifact_type, start_ms, end_ms, confidence, extra_data, annotator
               from unnest($4::uuid[], $5::uuid[], $6::text[], $7::bigint[], $8::bigint[], $9::double precision[],
                 $10::jsonb[], $11::text[]) as line (id, audio_file_id, artifact_type, start_ms, end_ms, confidence,
                 extra_data, annotator)
               returning id, annotation_set_id, audio_file_id, artifact_type, start_ms, end_ms, confidence, extra_data,
                 annotator, created_at, created_at as updated_at""",
            caller.tenant_id,
            dataset_id,
            annotation_set_id,
            new_ids(len(lines)),
            [line.audio_file_id for line in lines],
            [line.artifact_type for line in lines],
            [line.start_ms for line in lines],
            [line.end_ms for line in lines],
            [line.confidence for line in lines],
            [line.extra_data for line in lines],
            [line.annotator for line in lines],
        )
    return {"items": [dict(row) for row in rows], "total": len(rows)}
