// The npm package `odata-query`: what an application builds its queries with, sent by `fetch`.

import assert from "node:assert/strict";
import { test } from "node:test";
import query from "odata-query";
import { admin, difficult, newProduct, root } from "./service.mjs";

const buildQuery = query.default ?? query;

/** What a set holds that fits. */
async function list(set, options) {
  const answer = await fetch(`${root}${set}${buildQuery(options)}`, { headers: admin });
  const body = await answer.json();
  assert.equal(answer.status, 200, JSON.stringify(body));
  return body;
}

async function send(method, path, body) {
  const headers = { ...admin, "Content-Type": "application/json" };
  const answer = await fetch(`${root}${path}`, { method, headers, body: JSON.stringify(body) });
  return answer.status === 204 ? null : answer.json();
}

test("conditions of all kinds", async () => {
  const { value, "@odata.count": count } = await list("Products", {
    filter: {
      and: [
        { price: { ge: 5, le: 80 } },
        { or: [{ stock: { gt: 10 } }, { discontinued: true }] },
        { not: { region: { eq: "nowhere" } } },
        "length(name) gt 3",
      ],
      name: { contains: "e" },
      unit: { in: ["piece", "set"] },
    },
    orderBy: ["category/name", "price desc"],
    select: ["id", "name", "price", "unit"],
    top: 10,
    count: true,
  });
  assert.ok(value.length > 0 && count >= value.length);
  for (const { price, unit } of value) {
    assert.ok(price >= 5 && price <= 80 && ["piece", "set"].includes(unit));
  }
});

test("conditions on related entities", async () => {
  const { value } = await list("Orders", {
    filter: { orderLines: { any: { quantity: { gt: 5 } } }, status: { ne: "cancelled" } },
    expand: { orderLines: { select: ["quantity"], orderBy: ["quantity desc"], top: 1 }, customer: {} },
    top: 5,
  });
  assert.equal(value.length, 5);
  for (const { orderLines, customer } of value) {
    assert.equal(orderLines.length, 1);
    assert.ok(orderLines[0].quantity > 5 && customer.name.length > 0);
  }
  const none = await list("Orders", { filter: { orderLines: { all: { quantity: { lt: 0 } } } }, count: true });
  assert.ok(none.value.every(({ total }) => total === 0), "only of orders without lines is it true");
});

test("dates, identifiers and difficult texts", async () => {
  const [category] = (await list("Categories", { top: 1 })).value;
  const created = await send("POST", "Products", newProduct(category.id, { name: difficult }));
  const found = await list("Products", {
    filter: {
      id: { type: "guid", value: created.id },
      createdAt: { ge: new Date(Date.parse(created.createdAt) - 1000) },
      name: difficult,
    },
  });
  assert.deepEqual(found.value.map(({ id, name }) => [id, name]), [[created.id, difficult]]);
  await send("DELETE", `Products(${created.id})`);
});

test("aggregates", async () => {
  const { value } = await list("Products", {
    transform: {
      filter: { discontinued: false },
      groupBy: {
        properties: ["unit"],
        transform: { aggregate: [{ price: { with: "average", as: "averagePrice" } }] },
      },
    },
  });
  assert.ok(value.length > 1);
  assert.ok(value.every(({ unit, averagePrice }) => unit && averagePrice > 0));
});
