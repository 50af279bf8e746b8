// What the tests of all clients on Node share: where the service is, and who asks.

import assert from "node:assert/strict";

/** The address of the service, with a slash at the end. */
export const root = process.env.SVC_ODATA_ROOT;

/** Headers of the administrator, who may do everything. */
export const admin = { Authorization: `Bearer ${process.env.SVC_ADMIN_KEY}` };

/** Headers of a clerk, who may read products and categories, but sees no costs and no suppliers. */
export const clerk = { Authorization: `Bearer ${process.env.SVC_CLERK_KEY}` };

/** A name that shows whether texts arrive as they were sent. */
export const difficult = `Müller's "Größe" & Söhne 100% + 50/50? #1 \\ 日本 😀`;

let count = 0;

/** A product to create, with a number that no other has. */
export function newProduct(categoryId, changes = {}) {
  count += 1;
  const sku = `E2E-${process.pid}-${count}`;
  return { sku, name: "Folding rule", categoryId, unit: "piece", price: 12.5, ...changes };
}

/** A text in a filter: quotes are doubled. */
export function quoted(text) {
  return `'${text.replaceAll("'", "''")}'`;
}

/** The error that an answer carries in OData's format. */
export async function errorOf(response) {
  const { error } = await response.json();
  assert.equal(typeof error.code, "string");
  assert.ok(error.message.length > 0);
  return error;
}
