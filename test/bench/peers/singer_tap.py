"""A tap by the Singer SDK for the partner's candidates: the SDK's own paginator, retries and messages."""

from __future__ import annotations

import sys

from singer_sdk import Stream, Tap
from singer_sdk import typing as th
from singer_sdk.authenticators import BearerTokenAuthenticator
from singer_sdk.pagination import BasePageNumberPaginator
from singer_sdk.streams import RESTStream

TEXTS = [
    "firstName", "lastName", "email", "phone", "currentJobTitle", "currentCompany", "city", "country", "resume",
    "summary", "linkedin", "gender", "dateOfBirth", "nationality", "industry", "createdAt", "updatedAt",
]  # fmt: skip


class Pages(BasePageNumberPaginator):
    def has_more(self, response) -> bool:
        return len(response.json()["data"]) == 100


class Candidates(RESTStream):
    name = "candidates"
    path = "/candidates/list"
    primary_keys = ("id",)
    records_jsonpath = "$.data[*]"
    schema = th.PropertiesList(
        th.Property("id", th.IntegerType, required=True),
        *[th.Property(name, th.StringType) for name in TEXTS],
        th.Property("skills", th.ArrayType(th.StringType)),
    ).to_dict()

    @property
    def url_base(self) -> str:
        return self.config["base_url"]

    @property
    def authenticator(self) -> BearerTokenAuthenticator:
        return BearerTokenAuthenticator(token=self.config["key"])

    def get_new_paginator(self) -> Pages:
        return Pages(0)

    def get_url_params(self, context, next_page_token) -> dict:
        return {"pageNumber": next_page_token or 0, "perPage": 100}


class TapPartner(Tap):
    name = "tap-partner"
    config_jsonschema = th.PropertiesList(
        th.Property("base_url", th.StringType, required=True),
        th.Property("key", th.StringType, required=True, secret=True),
    ).to_dict()

    def discover_streams(self) -> list[Stream]:
        return [Candidates(tap=self)]


if __name__ == "__main__":
    sys.exit(TapPartner.cli())
