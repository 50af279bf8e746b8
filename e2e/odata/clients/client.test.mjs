// The npm package `@odata/client`: filters and options built by methods, keys as typed values,
// batches as multipart and as JSON.

import assert from "node:assert/strict";
import { test } from "node:test";
import library from "@odata/client";
import { admin, clerk, newProduct, root } from "./service.mjs";

const { OData, EdmV4 } = library;
const as = (who) => OData.New4({ serviceEndpoint: root, commonHeaders: who });
const service = as(admin);
const products = service.getEntitySet("Products");
const key = (id) => EdmV4.Guid.from(id);
const options = () => service.newOptions();

async function category() {
  const [found] = await service.getEntitySet("Categories").query(options().top(1));
  return found;
}

test("a list with filter, order, select, top, skip, expand", async () => {
  const filter = service.newFilter().property("price").between(10, 50).property("unit").eq("piece");
  const found = await products.query(
    options()
      .filter(filter)
      .orderby([{ field: "price", order: "desc" }, { field: "sku", order: "asc" }])
      .select(["id", "sku", "price"])
      .expand("category")
      .top(4)
      .skip(2),
  );
  assert.equal(found.length, 4);
  for (const { price, category, ...others } of found) {
    assert.ok(price >= 10 && price <= 50);
    assert.ok(category.name.length > 0);
    assert.ok(!("unit" in others));
  }
  const prices = found.map(({ price }) => price);
  assert.deepEqual(prices, prices.toSorted((a, b) => b - a));
});

test("counts, with and without a filter", async () => {
  const all = await products.count();
  const some = await products.count(service.newFilter().property("stock").gt(0));
  assert.ok(all > 50 && some > 0 && some <= all, `${some} of ${all}`);
});

test("search", async () => {
  const found = await products.query(options().search("saw", false).select("name"));
  assert.ok(found.length > 0);
});

test("next links lead through all rows", async () => {
  const first = await service.newRequest({
    collection: "Orders",
    params: options().select("id").orderby("orderedAt", "asc").count(),
  });
  const seen = new Set(first.value.map(({ id }) => id));
  for (let next = first["@odata.nextLink"]; next; ) {
    // The library leaves it to its callers to follow links.
    const page = await (await fetch(next, { headers: admin })).json();
    page.value.forEach(({ id }) => seen.add(id));
    next = page["@odata.nextLink"];
  }
  assert.ok(first["@odata.count"] > 500);
  assert.equal(seen.size, first["@odata.count"]);
});

test("create, find, read, change, delete", async () => {
  const { id: categoryId } = await category();
  const name = "Größe 日本 \"wide\" 😀";
  const created = await products.create(newProduct(categoryId, { name, price: 99999999.99 }));
  assert.equal(created.name, name);
  const [found] = await products.find({ sku: created.sku, name });
  assert.equal(found.id, created.id);
  const read = await products.retrieve(key(created.id), options().expand("category"));
  assert.equal(read.price, 99999999.99);
  assert.equal(read.category.id, categoryId);
  await products.update(key(created.id), { price: 0.01, region: null });
  assert.equal((await products.retrieve(key(created.id))).price, 0.01);
  await products.delete(key(created.id));
  await assert.rejects(products.retrieve(key(created.id)), /there is no/);
});

test("dates and identifiers are values, not texts", async () => {
  const [order] = await service.getEntitySet("Orders").query(options().top(1).orderby("orderedAt"));
  const filter = service
    .newFilter()
    .property("orderedAt")
    .ge(EdmV4.DateTimeOffset.from(new Date(order.orderedAt)))
    .property("customerId")
    .eq(key(order.customerId));
  const found = await service.getEntitySet("Orders").query(filter);
  assert.ok(found.every(({ customerId }) => customerId === order.customerId));
});

test("actions and functions", async () => {
  const [product] = await products.query(options().top(1).orderby("sku", "asc"));
  const received = await products.action("Shop.ReceiveStock", key(product.id), { quantity: 5 });
  assert.equal(received.stock, product.stock + 5);
  const refused = products.action("Shop.ReceiveStock", key(product.id), { quantity: -1 });
  await assert.rejects(refused, /quantity/);
  const customers = service.getEntitySet("Customers");
  const filter = service.newFilter().property("creditLimit").gt(0);
  const [customer] = await customers.query(options().filter(filter).top(1));
  const left = await customers.function("Shop.CreditLeft", key(customer.id));
  assert.ok(left.value <= customer.creditLimit, `${left.value} of ${customer.creditLimit}`);
});

test("refusals are errors with the service's words", async () => {
  await assert.rejects(products.query(service.newFilter().property("prize").gt(1)), /`prize`/);
  const { id: categoryId } = await category();
  await assert.rejects(products.create(newProduct(categoryId, { price: -1 })), /./);
  const theirs = as(clerk);
  await assert.rejects(theirs.getEntitySet("Suppliers").query(), /Suppliers\.View/);
  await assert.rejects(
    theirs.getEntitySet("Products").query(options().orderby("costPrice")),
    /no property `costPrice`/,
  );
  const [seen] = await theirs.getEntitySet("Products").query(options().top(1));
  assert.ok(!("costPrice" in seen));
  await assert.rejects(theirs.getEntitySet("Products").delete(key(seen.id)), /Products\.Delete/);
});

test("a change of what has changed since is refused", async () => {
  const { id: categoryId } = await category();
  const created = await products.create(newProduct(categoryId));
  const late = as({ ...admin, "If-Match": 'W/"7"' }).getEntitySet("Products");
  await assert.rejects(late.update(key(created.id), { price: 2 }), /./);
  assert.equal((await products.retrieve(key(created.id))).price, created.price);
  await products.delete(key(created.id));
});

/** Requests of a batch that read, create, and name what is not there. */
async function requests() {
  const { id: categoryId } = await category();
  const entity = newProduct(categoryId);
  const request = (of) => service.newBatchRequest({ collection: "Products", ...of });
  const all = () => [
    request({ params: options().top(2) }),
    request({ method: "POST", entity }),
    request({ params: options().filter(`sku eq '${entity.sku}'`) }),
    request({ id: key("00000000-0000-0000-0000-000000000000") }),
  ];
  return { all, entity };
}

async function check(answers, entity) {
  const [list, created, found, missing] = answers;
  assert.deepEqual(answers.map(({ status }) => status), [200, 201, 200, 404]);
  assert.equal((await list.json()).value.length, 2);
  const { id, sku } = await created.json();
  assert.equal(sku, entity.sku);
  assert.deepEqual((await found.json()).value.map((product) => product.id), [id]);
  assert.ok((await missing.json()).error.message.length > 0);
  await products.delete(key(id));
}

test("a batch as multipart", async () => {
  const { all, entity } = await requests();
  await check(await service.execBatchRequests(all()), entity);
});

test("a batch as JSON", async () => {
  const { all, entity } = await requests();
  await check(await service.execBatchRequestsJson(all()), entity);
});
