"""dlt's REST source into Postgres, one merge by id. Takes its settings as JSON, prints seconds after the imports."""

import json
import sys
import time

import dlt
from dlt.sources.rest_api import rest_api_source

settings = json.loads(sys.argv[1])
began = time.monotonic()
source = rest_api_source(
    {
        "client": {
            "base_url": settings["baseUrl"],
            "auth": {"type": "bearer", "token": settings["key"]},
            "paginator": {
                "type": "page_number",
                "base_page": 0,
                "page_param": "pageNumber",
                "total_path": None,
                "maximum_page": settings["pages"],
            },
        },
        "resource_defaults": {"primary_key": "id", "write_disposition": "merge"},
        "resources": [
            {
                "name": "candidates",
                "max_table_nesting": 0,
                "endpoint": {"path": "candidates/list", "params": {"perPage": 100}, "data_selector": "data"},
            }
        ],
    }
)
pipeline = dlt.pipeline(
    "peer",
    destination=dlt.destinations.postgres(settings["databaseUrl"]),
    dataset_name="peer_dlt",
    pipelines_dir=settings["folder"],
)
pipeline.run(source)
print(json.dumps({"seconds": time.monotonic() - began}))
