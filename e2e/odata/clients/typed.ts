// A program that uses the generated types: it compiles under `--strict`, what is wrong in it does
// not, and what compiles works against the service.

import type {
  EntitySetName,
  EntitySets,
  ErrorAnswer,
  Expanded,
  Guid,
  Operations,
  Page,
  Product,
  ProductCreate,
  Selected,
} from "./types.js";

declare const process: { env: Record<string, string | undefined> };

const root = process.env.SVC_ODATA_ROOT ?? "";
const headers = {
  Authorization: `Bearer ${process.env.SVC_ADMIN_KEY ?? ""}`,
  "Content-Type": "application/json",
};

/** What a list asks for; names are those of the set. */
interface Wish<Set extends EntitySetName> {
  filter?: string;
  orderBy?: EntitySets[Set]["property"];
  top?: number;
}

async function ask<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const answer = await fetch(`${root}${path}`, init);
  if (!answer.ok) {
    const { error } = (await answer.json()) as ErrorAnswer;
    const named = error.details?.map(({ target, message }) => `${target ?? ""} ${message}`) ?? [];
    throw new Error([`${answer.status} ${error.message}`, ...named].join("; "));
  }
  return (answer.status === 204 ? undefined : await answer.json()) as Answer;
}

function query(options: Record<string, unknown>): string {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return given.map(([name, value]) => `$${name}=${encodeURIComponent(String(value))}`).join("&");
}

/** A client of fifty lines in which no name is a mere text. */
const sets = {
  list: <Set extends EntitySetName, Property extends EntitySets[Set]["property"] & keyof EntitySets[Set]["entity"]>(
    set: Set,
    select: Property[],
    { filter, orderBy, top }: Wish<Set> = {},
  ) =>
    ask<Page<Selected<EntitySets[Set]["entity"], Property>>>(
      "GET",
      `${set}?${query({ select: select.join(","), filter, orderby: orderBy, top, count: true })}`,
    ),
  get: <Set extends EntitySetName, Navigation extends EntitySets[Set]["navigation"] & keyof EntitySets[Set]["entity"]>(
    set: Set,
    key: EntitySets[Set]["key"],
    ...expand: Navigation[]
  ) =>
    ask<Expanded<EntitySets[Set]["entity"], Navigation>>(
      "GET",
      `${set}(${String(key)})${expand.length > 0 ? `?${query({ expand: expand.join(",") })}` : ""}`,
    ),
  create: <Set extends EntitySetName>(set: Set, entity: EntitySets[Set]["create"]) =>
    ask<EntitySets[Set]["entity"]>("POST", set, entity),
  change: <Set extends EntitySetName>(
    set: Set,
    key: EntitySets[Set]["key"],
    changes: EntitySets[Set]["update"],
  ) => ask<EntitySets[Set]["entity"]>("PATCH", `${set}(${String(key)})`, changes),
  delete: <Set extends EntitySetName>(set: Set, key: EntitySets[Set]["key"]) =>
    ask<undefined>("DELETE", `${set}(${String(key)})`),
};

function check(holds: boolean, what: string): void {
  if (!holds) {
    throw new Error(`it doesn't hold that ${what}`);
  }
}

/** Never called: every line after an `@ts-expect-error` must be refused by the compiler. */
export async function wrong(product: Product, id: Guid): Promise<void> {
  // @ts-expect-error a set that is not there
  await sets.list("Produkts", ["id"]);
  // @ts-expect-error a property of another set
  await sets.list("Products", ["email"]);
  // @ts-expect-error an order by what is not there
  await sets.list("Products", ["id"], { orderBy: "prize" });
  // @ts-expect-error navigation that the set doesn't have
  await sets.get("Products", id, "customer");
  // @ts-expect-error what the service requires is missing
  await sets.create("Products", { sku: "A", name: "B" });
  // @ts-expect-error it says twice which category it is in
  await sets.create("Products", { sku: "A", name: "B", price: 1, categoryId: id, category: { name: "C" } });
  // @ts-expect-error a product has to be in a category
  await sets.change("Products", id, { "category@odata.bind": null });
  // @ts-expect-error what a new product within a category is in is that category
  await sets.create("Categories", { name: "C", products: [{ sku: "A", name: "B", price: 1, categoryId: id }] });
  // @ts-expect-error orders aren't created with what they consist of
  await sets.create("Products", { sku: "A", name: "B", price: 1, categoryId: id, orderLines: [] });
  // @ts-expect-error a price is a number
  await sets.change("Products", id, { price: "12.50" });
  // @ts-expect-error the service alone sets it
  await sets.change("Products", id, { createdAt: "2026-11-20T12:00:00Z" });
  // @ts-expect-error stock is set on create only
  await sets.change("Products", id, { stock: 3 });
  // @ts-expect-error a key never changes
  await sets.change("Products", id, { id });
  // @ts-expect-error lines of orders stay as they were placed
  const lines: EntitySets["OrderLines"]["update"] = { quantity: 2 };
  // @ts-expect-error it may be null
  const description: string = product.description;
  // @ts-expect-error who lacks a permission doesn't get it
  const cost: number | null = product.costPrice;
  // @ts-expect-error without `$expand` it may not be there
  product.category.name;
  // @ts-expect-error an action takes what it says
  const delivery: Operations["Shop.ReceiveStock"]["parameters"] = { count: 5 };
  // @ts-expect-error no operation has this name
  type Missing = Operations["Shop.Vanish"];
  const _used: [Missing?, unknown?] = [undefined, [lines, description, cost, delivery]];
}

const { value: categories } = await sets.list("Categories", ["id", "name"], { top: 1 });
const [category] = categories;
if (category === undefined) {
  throw new Error("the shop has categories");
}
const wish: ProductCreate = {
  sku: `TS-${Date.now()}`,
  name: "Größe \"wide\" 日本",
  categoryId: category.id,
  unit: "piece",
  price: 12.5,
  description: null,
};
const created: Product = await sets.create("Products", wish);
check(created.name === wish.name && created.price === 12.5 && created.stock === 0, "it is as sent");
const changed = await sets.change("Products", created.id, { price: 13, region: "south" });
check(changed.price === 13 && changed.region === "south", "it is changed");
const read = await sets.get("Products", created.id, "category", "supplier", "orderLines");
check(read.category?.name === category.name, "its category comes with it");
check(read.supplier === null && read.orderLines.length === 0, "it has no supplier and no orders");
const page = await sets.list("Products", ["sku", "price"], {
  filter: `id eq ${created.id}`,
  orderBy: "createdAt",
});
check(page["@odata.count"] === 1 && page.value[0]?.sku === wish.sku, "it is found");
check(!("name" in (page.value[0] ?? {})), "nothing else was selected");
const refusal = await sets.create("Products", { ...wish, price: -1 }).catch(String);
check(/422|409/.test(String(refusal)), `a price below zero is refused: ${String(refusal)}`);
const delivery: Operations["Shop.ReceiveStock"]["parameters"] = { quantity: 5 };
const received = await ask<Operations["Shop.ReceiveStock"]["returns"]>(
  "POST",
  `Products(${created.id})/Shop.ReceiveStock`,
  delivery,
);
check(received?.stock === 5, "what was delivered is in stock");
const bound = await sets.create("Products", {
  sku: `TS-B-${Date.now()}`,
  name: "Bound",
  "category@odata.bind": `Categories(${category.id})`,
  supplier: { name: "A new supplier", city: "Ulm", country: "DE", leadTimeDays: 3 },
  price: 1,
});
check(bound.categoryId === category.id && bound.supplierId !== null, "it is bound and takes along");
const family = await sets.create("Categories", {
  name: `Family ${Date.now()}`,
  products: [{ sku: `TS-F-${Date.now()}`, name: "Child", price: 1 }],
});
const child = family.products?.[0];
check(child?.categoryId === family.id, "what is created within belongs to it");
const moved = await sets.change("Products", created.id, {
  "category@odata.bind": `Categories(${family.id})`,
  "supplier@odata.bind": null,
});
check(moved.categoryId === family.id && moved.supplierId === null, "it is bound anew");
for (const product of [bound, child, created]) {
  await sets.delete("Products", product?.id ?? "");
}
console.log("all holds");
