"""The OpenAPI description: a validator accepts it, and a client that is generated from it works.

The PyPI packages `openapi-spec-validator` and `openapi-python-client` do both.
"""

import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.request
import uuid
from pathlib import Path

from openapi_spec_validator import validate

ROOT = os.environ["SVC_ODATA_ROOT"]
HOST = ROOT.removesuffix("/odata/v1/")
SETS = {"Categories", "Suppliers", "Products", "Customers", "Orders", "OrderLines"}


def document():
    with urllib.request.urlopen(f"{HOST}/openapi/v1.json") as answer:
        return json.load(answer)


class Description(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.document = document()

    def test_it_is_valid(self):
        validate(self.document)

    def operations(self):
        for path, item in self.document["paths"].items():
            if path.startswith("/odata/v1"):
                for method, operation in item.items():
                    if method != "parameters":
                        yield path, method, item.get("parameters", []), operation

    def test_every_set_is_there(self):
        paths = self.document["paths"]
        for name in SETS:
            collection = paths[f"/odata/v1/{name}"]
            self.assertIn("get", collection)
            options = {each["name"] for each in collection["get"]["parameters"]}
            wanted = {"$filter", "$orderby", "$select", "$expand", "$top", "$skip", "$count"}
            self.assertLessEqual(wanted, options, name)
            self.assertIn(f"/odata/v1/{name}/$count", paths)
            one = set(paths[f"/odata/v1/{name}({{key}})"])
            self.assertIn("get", one)
            # Lines of orders stay as they were placed.
            if name != "OrderLines":
                self.assertEqual({"get", "patch", "put", "delete", "parameters"}, one)
        self.assertEqual({each["name"] for each in self.document["tags"]} & SETS, SETS)

    def test_every_operation_says_who_may_what_it_answers_and_refuses(self):
        ids = []
        for path, method, common, operation in self.operations():
            place = f"{method} {path}"
            ids.append(operation["operationId"])
            self.assertIn("bearer", operation["security"][0], place)
            codes = set(operation["responses"])
            self.assertTrue(any(code.startswith("2") for code in codes), place)
            self.assertLessEqual({"401", "500", "503"}, codes, place)
            for code, response in operation["responses"].items():
                if code >= "400":
                    name = response["$ref"].removeprefix("#/components/responses/")
                    shared = self.document["components"]["responses"][name]
                    schema = shared["content"]["application/json"]["schema"]
                    self.assertEqual(schema["$ref"], "#/components/schemas/ODataError", place)
            named = {each["name"] for each in common + operation.get("parameters", [])}
            self.assertLessEqual(set(re.findall(r"{(\w+)}", path)), named, place)
        self.assertGreater(len(ids), 40)
        self.assertEqual(len(ids), len(set(ids)))

    def test_every_reference_leads_somewhere(self):
        def references(value):
            if isinstance(value, dict):
                if isinstance(value.get("$ref"), str):
                    yield value["$ref"]
                for each in value.values():
                    yield from references(each)
            elif isinstance(value, list):
                for each in value:
                    yield from references(each)

        for reference in set(references(self.document)):
            at = self.document
            for part in reference.removeprefix("#/").split("/"):
                self.assertIn(part, at, reference)
                at = at[part]


class GeneratedClient(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        folder = Path(cls.folder.name)
        (folder / "openapi.json").write_text(json.dumps(document()))
        # What it would format with is a program of its own.
        (folder / "config.yml").write_text("post_hooks: []\n")
        generated = subprocess.run(
            [sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none"]
            + ["--path", "openapi.json", "--config", "config.yml"]
            + ["--output-path", "shop_client"],
            cwd=folder,
            capture_output=True,
            text=True,
        )
        if generated.returncode != 0:
            raise AssertionError(generated.stdout + generated.stderr)
        # It knows no pictures, no JSON lines, and no `multipart/mixed`, the other form of a batch.
        left_out = re.findall(r"^WARNING parsing (.*)$", generated.stdout + generated.stderr, re.MULTILINE)
        expected = [
            "POST /api/v1/audit/export within history.",
            "GET /api/v1/search/stream within search.",
            "GET /bff/loading-screen/logo within bff.",
            "POST /odata/v1/$batch within odata.",
        ]
        if left_out != expected:
            raise AssertionError(generated.stdout + generated.stderr)
        sys.path.insert(0, cls.folder.name)
        client = importlib.import_module("shop_client")
        cls.client = client.AuthenticatedClient(base_url=HOST, token=os.environ["SVC_ADMIN_KEY"])
        cls.models = importlib.import_module("shop_client.models")

    @classmethod
    def tearDownClass(cls):
        sys.path.remove(cls.folder.name)
        cls.folder.cleanup()

    def call(self, tag, name, *arguments, **named):
        module = importlib.import_module(f"shop_client.api.{tag}.{name}")
        return module.sync_detailed(*arguments, client=self.client, **named)

    def test_it_creates_reads_changes_lists_and_deletes(self):
        category = self.call("categories", "list_categories", top=1).parsed.value[0]
        wish = self.models.ProductCreate(
            sku=f"OA-{uuid.uuid4().hex[:12]}",
            name="Größe 日本",
            category_id=category.id,
            price=12.5,
        )
        created = self.call("products", "create_product", body=wish)
        self.assertEqual(created.status_code, 201)
        self.assertIn("location", created.headers)
        key = created.parsed.id
        changes = self.models.ProductUpdate(price=13.0, region="south")
        changed = self.call("products", "change_product", key, body=changes)
        self.assertEqual((changed.parsed.price, changed.parsed.region), (13.0, "south"))
        named = {"filter_": f"id eq {key}", "select": "sku,price", "count": True}
        page = self.call("products", "list_products", **named).parsed
        self.assertEqual([product.sku for product in page.value], [wish.sku])
        self.assertEqual(page.odata_count, 1)
        whole = self.call("products", "get_product", key, expand="category").parsed
        self.assertEqual(whole.category.name, category.name)
        self.assertEqual(self.call("products", "delete_product", key).status_code, 204)
        family = self.models.CategoryCreate(
            name=f"Family {uuid.uuid4().hex[:12]}",
            products=[self.models.ProductCreate(sku=wish.sku, name="Child", price=1.0)],
        )
        made = self.call("categories", "create_category", body=family)
        self.assertEqual(made.status_code, 201)
        child = made.parsed.products[0]
        self.assertEqual(child.category_id, made.parsed.id)
        moved = self.models.ProductUpdate(
            categoryodata_bind=f"Categories({category.id})", supplierodata_bind=None
        )
        changed = self.call("products", "change_product", child.id, body=moved)
        self.assertEqual(changed.parsed.category_id, category.id)
        self.assertEqual(self.call("products", "delete_product", child.id).status_code, 204)
        missing = self.call("products", "get_product", key)
        self.assertEqual(missing.status_code, 404)
        self.assertTrue(missing.parsed.error.message)


if __name__ == "__main__":
    unittest.main()
