// The npm package `odata2openapi` reads the metadata as XML; what it finds must be what the
// service says in JSON.

import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "odata2openapi";
import { admin, clerk, root } from "./service.mjs";

async function metadata(who, format) {
  const answer = await fetch(`${root}$metadata?$format=${format}`, { headers: who });
  assert.equal(answer.status, 200);
  return answer;
}

/** Sets with their keys and properties, from CSDL JSON. */
function fromJson(document) {
  const [namespace, name] = document.$EntityContainer.split(".");
  const { [namespace]: schema } = document;
  const sets = Object.entries(schema[name]).filter(([, set]) => set.$Collection);
  return sets.map(([set, { $Type }]) => {
    const type = schema[$Type.slice(namespace.length + 1)];
    const all = Object.entries(type).filter(([, member]) => member && typeof member === "object");
    const properties = all.filter(([member, { $Kind }]) => !/[$@]/.test(member) && !$Kind);
    return {
      set,
      key: type.$Key,
      properties: properties.map(([property, { $Type = "Edm.String" }]) => [property, $Type]),
    };
  });
}

/** The same from what the package read. */
function fromXml({ entitySets, enumTypes = [] }) {
  const enumerations = enumTypes.map(({ namespace, name }) => `${namespace}.${name}`);
  return entitySets.map(({ name, entityType }) => ({
    set: name,
    key: entityType.key.map((property) => property.name),
    properties: [...entityType.key, ...entityType.properties]
      .filter(({ type }) => type?.startsWith("Edm.") || enumerations.includes(type))
      .filter((property, place, all) => all.findIndex((it) => it.name === property.name) === place)
      .map((property) => [property.name, property.type]),
  }));
}

/** Enumerations with their members, from CSDL JSON. */
function enumerationsOf(document) {
  const [namespace] = document.$EntityContainer.split(".");
  const types = Object.entries(document[namespace]).filter(([, { $Kind }]) => $Kind === "EnumType");
  return types.map(([name, type]) => {
    return { name, memberNames: Object.keys(type).filter((member) => !/[$@]/.test(member)) };
  });
}

const sorted = (sets) => {
  const order = (a, b) => (String(a[0] ?? a.set) < String(b[0] ?? b.set) ? -1 : 1);
  return sets.map((it) => ({ ...it, properties: it.properties.toSorted(order) })).sort(order);
};

for (const [name, who] of Object.entries({ admin, clerk })) {
  test(`XML and JSON say the same to the ${name}`, async () => {
    const service = await parse(await (await metadata(who, "xml")).text());
    const document = await (await metadata(who, "json")).json();
    const json = fromJson(document);
    assert.ok(json.length > 1 && json.every(({ properties }) => properties.length > 3));
    assert.deepEqual(sorted(fromXml(service)), sorted(json));
    const read = service.enumTypes ?? [];
    const members = read.map(({ name, memberNames }) => ({ name, memberNames }));
    assert.deepEqual(members, enumerationsOf(document));
    assert.equal(members.length, name === "admin" ? 1 : 0);
  });
}
