// The npm package `o.js`: URLs and bodies as a person writes them, multipart batches.

import assert from "node:assert/strict";
import { test } from "node:test";
import library from "o.js";
import { admin, clerk, difficult, errorOf, newProduct, quoted, root } from "./service.mjs";

const { o } = library;
const json = { "Content-Type": "application/json" };
const as = (who, config = {}) =>
  o("", { rootUrl: root, headers: new Headers({ ...json, ...who }), ...config });
const service = as(admin);

/** A batch has headers of its own; without them it would be nobody's. */
const batched = (useChangset) =>
  as(admin, {
    batch: {
      boundaryPrefix: "batch_",
      changsetBoundaryPrefix: "changset_",
      endpoint: "$batch",
      headers: new Headers({ ...json, ...admin }),
      useChangset,
      useRelativeURLs: useChangset,
    },
  });

/** The answer that a request was refused with, which `o.js` throws. */
async function refused(request) {
  const answer = await request.then(() => null, (thrown) => thrown);
  assert.ok(answer instanceof Response, `it was not refused: ${answer}`);
  return answer;
}

async function category() {
  const [found] = await service.get("Categories").query({ $top: 1, $orderby: "name" });
  return found;
}

test("service document and metadata", async () => {
  const sets = await service.get("").query();
  assert.ok(sets.some(({ name, kind, url }) => name === "Products" && kind === "EntitySet" && url));
  const metadata = await service.get("$metadata").fetch();
  assert.match(metadata.headers.get("content-type"), /^application\/xml/);
  assert.match(await metadata.text(), /<EntitySet Name="Products" EntityType="Shop\.Product">/);
});

test("a list with all its options", async () => {
  const answer = await service.get("Products").fetch({
    $filter: "price lt 100 and stock ge 1 and startswith(sku,'HT')",
    $orderby: "price desc,name",
    $select: "id,sku,price",
    $expand: "category($select=name)",
    $top: 3,
    $skip: 1,
    $count: true,
  });
  const page = await answer.json();
  assert.equal(page.value.length, 3);
  assert.ok(page["@odata.count"] > 4);
  for (const product of page.value) {
    assert.ok(product.sku.startsWith("HT") && product.price < 100);
    assert.equal(product.category.name, "Hand tools");
    assert.deepEqual(
      Object.keys(product).filter((name) => !name.startsWith("@")).sort(),
      ["category", "id", "price", "sku"],
    );
  }
  const prices = page.value.map(({ price }) => price);
  assert.deepEqual(prices, prices.toSorted((a, b) => b - a));
});

test("search finds words in any of the searched properties", async () => {
  const found = await service.get("Products").query({ $search: "hammer" });
  assert.ok(found.length > 0);
  for (const { name, sku, description } of found) {
    assert.match(`${name} ${sku} ${description}`, /hammer/i);
  }
  const none = await service.get("Products").query({ $search: "hammer AND nosuchword" });
  assert.equal(none.length, 0);
});

test("next links lead through all rows, each once", async () => {
  const total = Number(await (await service.get("OrderLines/$count").fetch()).text());
  assert.ok(total > 1000, `${total} lines`);
  const seen = new Set();
  let pages = 0;
  for (let at = "OrderLines?$orderby=quantity&$select=id"; at; pages += 1) {
    const page = await (await service.get(at).fetch()).json();
    for (const { id } of page.value) {
      assert.ok(!seen.has(id), `${id} came twice`);
      seen.add(id);
    }
    at = page["@odata.nextLink"];
  }
  assert.equal(seen.size, total);
  assert.ok(pages > 10, `${pages} pages`);
});

test("create, read, change, replace, delete", async () => {
  const { id: categoryId } = await category();
  const sent = newProduct(categoryId, { name: difficult, price: 0.1, stock: 7 });
  const created = await service.post("Products", sent).query();
  assert.equal(created.name, difficult);
  assert.equal(created.price, 0.1);
  assert.equal(created.discontinued, false);
  const address = `Products(${created.id})`;
  const changed = await service.patch(address, { price: 1234567890.12 }).query();
  assert.equal(changed.price, 1234567890.12);
  assert.equal(changed.stock, 7);
  const replaced = await service.put(address, { ...sent, region: "south" }).query();
  assert.equal(replaced.region, "south");
  assert.equal(replaced.price, 0.1);
  const gone = await service.delete(address).query();
  assert.equal(gone.status, 204);
  assert.equal((await refused(service.get(address).query())).status, 404);
});

test("a related entity is created with the one that leads to it", async () => {
  const name = `Category ${process.pid}`;
  const { categoryId: _, ...product } = newProduct("");
  const created = await service.post("Products", { ...product, category: { name } }).query({
    $expand: "category",
  });
  const read = await service.get(`Products(${created.id})`).query({ $expand: "category" });
  assert.equal(read.category.name, name);
  const bound = { ...newProduct(""), "category@odata.bind": `Categories(${read.categoryId})` };
  delete bound.categoryId;
  const second = await service.post("Products", bound).query();
  assert.equal(second.categoryId, read.categoryId);
  for (const { id } of [created, second]) {
    await service.delete(`Products(${id})`).query();
  }
  await service.delete(`Categories(${read.categoryId})`).query();
});

test("texts arrive in filters as they were sent", async () => {
  const { id: categoryId } = await category();
  const { id } = await service.post("Products", newProduct(categoryId, { name: difficult })).query();
  const filter = `name eq ${quoted(difficult)}`;
  const found = await service.get("Products").query({ $filter: filter, $select: "id" });
  assert.deepEqual(found.map((product) => product.id), [id]);
  await service.delete(`Products(${id})`).query();
});

test("dates compare as moments", async () => {
  const [last] = await service.get("Orders").query({ $orderby: "orderedAt desc", $top: 1 });
  const at = new Date(last.orderedAt);
  const $filter = `orderedAt ge ${at.toISOString()} and status ne 'cancelled' or id eq ${last.id}`;
  const found = await service.get("Orders").query({ $filter });
  assert.ok(found.some(({ id }) => id === last.id));
  const later = new Date(at.getTime() + 1000).toISOString();
  const none = await service.get("Orders").query({ $filter: `orderedAt gt ${later}` });
  assert.equal(none.length, 0);
});

test("refusals say what is wrong", async () => {
  const missing = await refused(service.get("Products(00000000-0000-0000-0000-000000000000)").query());
  assert.equal(missing.status, 404);
  await errorOf(missing);
  const wrong = await refused(service.get("Products").query({ $filter: "prize gt 1" }));
  assert.equal(wrong.status, 400);
  assert.match((await errorOf(wrong)).message, /prize/);
  const { id: categoryId } = await category();
  const invalid = await refused(service.post("Products", newProduct(categoryId, { name: null })).query());
  assert.equal(invalid.status, 422);
  assert.ok((await errorOf(invalid)).details.some(({ target }) => target === "name"));
  const unknown = await refused(as({ Authorization: "Bearer svck_unknown" }).get("Products").query());
  assert.equal(unknown.status, 401);
});

test("a change of what has changed since is refused", async () => {
  const { id: categoryId } = await category();
  const created = await service.post("Products", newProduct(categoryId)).query();
  const address = `Products(${created.id})`;
  const at = (tag) => as({ ...admin, "If-Match": tag });
  await at(created["@odata.etag"]).patch(address, { price: 1 }).query();
  const late = await refused(at(created["@odata.etag"]).patch(address, { price: 2 }).query());
  assert.equal(late.status, 412);
  assert.equal((await service.get(address).query()).price, 1);
  const current = (await service.get(address).query())["@odata.etag"];
  await at(current).delete(address).query();
});

test("what a person may not see is not there", async () => {
  const theirs = as(clerk);
  const sets = (await theirs.get("").query()).map(({ name }) => name);
  assert.ok(sets.includes("Products") && !sets.includes("Suppliers"), `${sets}`);
  const metadata = await (await theirs.get("$metadata").fetch()).text();
  for (const hidden of [`Name="Supplier"`, `.Supplier"`, "costPrice", "Cost price", "Order"]) {
    assert.ok(!metadata.includes(hidden), hidden);
  }
  const [product] = await theirs.get("Products").query({ $top: 1 });
  assert.ok(!("costPrice" in product));
  const bisected = await refused(theirs.get("Products").query({ $filter: "costPrice gt 1" }));
  const misspelt = await refused(theirs.get("Products").query({ $filter: "costPrize gt 1" }));
  assert.equal(bisected.status, 400);
  const [one, other] = [await errorOf(bisected), await errorOf(misspelt)];
  assert.equal(one.message, other.message.replaceAll("costPrize", "costPrice"));
  assert.equal((await refused(theirs.get("Suppliers").query())).status, 403);
  assert.equal((await refused(theirs.delete(`Products(${product.id})`).query())).status, 403);
});

test("a batch reads several things", async () => {
  const [products, categories, missing] = await batched(false)
    .get("Products?$top=2")
    .get("Categories?$top=1")
    .get("Products?$filter=nothing")
    .batch();
  assert.equal(products.status, 200);
  assert.equal(products.body.length, 2);
  assert.equal(categories.body.length, 1);
  assert.equal(missing.status, 400);
  assert.ok(missing.body.error.message.length > 0);
});

test("a change set is stored as a whole or not at all", async () => {
  const { id: categoryId } = await category();
  const good = [newProduct(categoryId), newProduct(categoryId)];
  const stored = await batched(true).post("Products", good[0]).post("Products", good[1]).batch();
  assert.deepEqual(stored.flat().map(({ status }) => status), [201, 201]);
  const bad = newProduct(categoryId);
  const refusal = await batched(true)
    .post("Products", bad)
    .post("Products", { ...bad, sku: `${bad.sku}-2`, price: -1 })
    .batch();
  assert.ok(refusal.flat().every(({ status }) => status >= 400));
  const skus = [...good, bad].map(({ sku }) => quoted(sku)).join(",");
  const found = await service.get("Products").query({ $filter: `sku in (${skus})`, $orderby: "sku" });
  assert.deepEqual(found.map(({ sku }) => sku), good.map(({ sku }) => sku).sort());
  for (const { id } of found) {
    await service.delete(`Products(${id})`).query();
  }
});
