/**
 * What there is: entity sets, their properties and operations, read from `$metadata` in JSON.
 *
 * The server writes what the caller may see and nothing else, so a name that isn't here doesn't exist for this person. What
 * the person may do beyond reading is decided by permissions that the metadata names.
 */

/** How values of a property are shown and written. */
export type Kind =
  | 'text'
  | 'integer'
  | 'decimal'
  | 'boolean'
  | 'time'
  | 'date'
  | 'clock'
  | 'duration'
  | 'id'
  | 'enumeration'
  /** Any value of JSON. */
  | 'json'
  | 'binary';

/** In what numbers are: money by the code of its currency (ISO 4217), a quantity by its unit. One of both is there. */
export interface Measure {
  readonly kind: 'currency' | 'unit';
  /** What it always is. */
  readonly always: string | undefined;
  /** The property of the set that holds it, or the path to one that stands on what a record refers to: `order/currency`. */
  readonly by: string | undefined;
}

/** A property, or a parameter of an operation. */
export interface Property {
  readonly name: string;
  readonly kind: Kind;
  /** The name of its enumeration, without the namespace. */
  readonly enumeration: string | undefined;
  /** The members of an enumeration, in their order. */
  readonly members: readonly string[];
  readonly nullable: boolean;
  readonly maxLength: number | undefined;
  /** Digits behind the point. */
  readonly scale: number | undefined;
  readonly description: string | undefined;
  readonly measure: Measure | undefined;
  /** What its values mean, beyond their kind: `email`. */
  readonly semanticType: string | undefined;
  /** The server fills it in when it's left out. */
  readonly hasDefault: boolean;
  readonly insertable: boolean;
  readonly updatable: boolean;
  /** Worth counting by: few values. */
  readonly isFacet: boolean;
  /** The navigation property that leads to what this property refers to. */
  readonly reference: string | undefined;
}

/** A way to related records. */
export interface Navigation {
  readonly name: string;
  /** The name of the set it leads to. */
  readonly target: string;
  readonly isCollection: boolean;
  /** The property of this set that holds the other's key. */
  readonly foreignKey: string | undefined;
  /** The way back. */
  readonly partner: string | undefined;
}

/** An action or a function. */
export interface Operation {
  readonly name: string;
  /** As it stands in addresses. */
  readonly qualifiedName: string;
  readonly isAction: boolean;
  readonly description: string | undefined;
  readonly parameters: readonly Property[];
  /** What it returns is a property without a name of its own. */
  readonly result: Property | undefined;
  readonly permissions: readonly string[];
}

/** What may be done with a set, and the permissions that it takes. */
export interface Capability {
  readonly possible: boolean;
  readonly permissions: readonly string[];
}

/** A list of records that one may look at. */
export interface EntitySet {
  readonly name: string;
  readonly type: string;
  readonly description: string | undefined;
  readonly key: string;
  readonly properties: readonly Property[];
  readonly navigations: readonly Navigation[];
  /** Operations of one record. */
  readonly operations: readonly Operation[];
  readonly searchable: boolean;
  readonly read: Capability;
  readonly insert: Capability;
  /** Whether a record can be made together with what belongs to it. */
  readonly deepInsert: boolean;
  readonly update: Capability;
  readonly remove: Capability;
  /** What a person would call a record by. */
  readonly title: string;
}

/** All sets by their names, in the server's order. */
export type Model = ReadonlyMap<string, EntitySet>;

type Json = Record<string, unknown>;

const KINDS: Record<string, Kind> = {
  'Edm.String': 'text',
  'Edm.Boolean': 'boolean',
  'Edm.Byte': 'integer',
  'Edm.SByte': 'integer',
  'Edm.Int16': 'integer',
  'Edm.Int32': 'integer',
  'Edm.Int64': 'integer',
  'Edm.Decimal': 'decimal',
  'Edm.Double': 'decimal',
  'Edm.Single': 'decimal',
  'Edm.DateTimeOffset': 'time',
  'Edm.Date': 'date',
  'Edm.TimeOfDay': 'clock',
  'Edm.Duration': 'duration',
  'Edm.Guid': 'id',
  'Edm.Binary': 'binary',
  'Edm.Untyped': 'json',
};

/** Names that people call things by, the likeliest first. */
const TITLES = ['name', 'title', 'displayName', 'label', 'subject', 'number', 'code', 'sku', 'email'];

function object(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The permissions for the whole of something; those for single properties are the server's business. */
function permissionsOf(restrictions: Json): string[] {
  const schemes = Array.isArray(restrictions.Permissions) ? restrictions.Permissions.map(object) : [];
  return schemes.flatMap(({ Scopes }) =>
    (Array.isArray(Scopes) ? Scopes : [])
      .map(object)
      .filter((scope) => scope.RestrictedProperties === undefined)
      .flatMap((scope) => (typeof scope.Scope === 'string' ? [scope.Scope] : [])),
  );
}

function capability(of: Json, term: string, flag: string): Capability {
  const restrictions = object(of[`@Capabilities.${term}`]);
  return { possible: restrictions[flag] !== false, permissions: permissionsOf(restrictions) };
}

/** The terms of `Org.OData.Measures.V1` that say in what a number is. */
const MEASURES: readonly (readonly [string, Measure['kind']])[] = [
  ['@Measures.ISOCurrency', 'currency'],
  ['@Measures.Unit', 'unit'],
];

function measureOf(json: Json): Measure | undefined {
  for (const [term, kind] of MEASURES) {
    const always = text(json[term]);
    const by = text(object(json[term]).$Path);
    if (always !== undefined || by !== undefined) return { kind, always, by };
  }
  return undefined;
}

class Reader {
  readonly #document: Json;

  constructor(document: Json) {
    this.#document = document;
  }

  /** What a qualified name stands for. */
  find(qualified: string): Json {
    const dot = qualified.lastIndexOf('.');
    const schema = object(this.#document[qualified.slice(0, dot)]);
    return object(schema[qualified.slice(dot + 1)]);
  }

  property(name: string, json: Json, rules: { notInsertable: string[]; notUpdatable: string[] }): Property {
    const type = text(json.$Type) ?? 'Edm.String';
    const enumeration = KINDS[type] === undefined ? this.find(type) : {};
    const isComputed = json['@Core.Computed'] === true;
    return {
      name,
      kind: KINDS[type] ?? (enumeration.$Kind === 'EnumType' ? 'enumeration' : 'text'),
      enumeration: enumeration.$Kind === 'EnumType' ? type.slice(type.lastIndexOf('.') + 1) : undefined,
      members: Object.keys(enumeration).filter((key) => !key.startsWith('$') && !key.includes('@')),
      nullable: json.$Nullable === true,
      maxLength: typeof json.$MaxLength === 'number' ? json.$MaxLength : undefined,
      scale: typeof json.$Scale === 'number' ? json.$Scale : undefined,
      description: text(json['@Core.Description']),
      measure: measureOf(json),
      semanticType: text(Object.entries(json).find(([term]) => term.endsWith('.SemanticType'))?.[1]),
      hasDefault: json['@Core.ComputedDefaultValue'] === true || json.$DefaultValue !== undefined,
      insertable: !isComputed && !rules.notInsertable.includes(name),
      updatable: !isComputed && json['@Core.Immutable'] !== true && !rules.notUpdatable.includes(name),
      isFacet: Object.entries(json).some(([term, value]) => term.endsWith('.IsFacet') && value === true),
      reference: undefined,
    };
  }

  /** The operations that are bound to a type. */
  operations(type: string): Operation[] {
    const namespace = type.slice(0, type.lastIndexOf('.'));
    return Object.entries(object(this.#document[namespace])).flatMap(([name, overloads]) =>
      (Array.isArray(overloads) ? overloads.map(object) : []).flatMap((overload) => {
        const [binding, ...rest] = Array.isArray(overload.$Parameter) ? overload.$Parameter.map(object) : [];
        if (overload.$IsBound !== true || binding?.$Type !== type || binding.$Collection === true) return [];
        const rules = { notInsertable: [], notUpdatable: [] };
        const returned = object(overload.$ReturnType);
        return [
          {
            name,
            qualifiedName: `${namespace}.${name}`,
            isAction: overload.$Kind === 'Action',
            description: text(overload['@Core.Description']),
            parameters: rest.map((parameter) => this.property(text(parameter.$Name) ?? '', parameter, rules)),
            result: KINDS[text(returned.$Type) ?? ''] ? this.property('', returned, rules) : undefined,
            permissions: permissionsOf(object(overload['@Capabilities.OperationRestrictions'])),
          },
        ];
      }),
    );
  }
}

/** The property that a record is called by. */
function titleOf(properties: readonly Property[], key: string): string {
  const named = TITLES.find((name) => properties.some((property) => property.name === name));
  if (named) return named;
  return properties.find((property) => property.kind === 'text' && !property.nullable)?.name ?? key;
}

function readSet(reader: Reader, name: string, json: Json): EntitySet | undefined {
  const qualified = text(json.$Type);
  const type = qualified ? reader.find(qualified) : {};
  const key = texts(type.$Key)[0];
  if (!qualified || key === undefined) return undefined;
  const inserts = object(json['@Capabilities.InsertRestrictions']);
  const updates = object(json['@Capabilities.UpdateRestrictions']);
  const rules = {
    notInsertable: texts(inserts.NonInsertableProperties),
    notUpdatable: texts(updates.NonUpdatableProperties),
  };
  const targets = object(json.$NavigationPropertyBinding);
  const members = Object.entries(type).flatMap(([member, value]) =>
    /^[$@]/.test(member) || member.includes('@') ? [] : [[member, object(value)] as const],
  );
  const navigations = members.flatMap(([member, value]) => {
    const target = text(targets[member]);
    if (value.$Kind !== 'NavigationProperty' || target === undefined) return [];
    return [
      {
        name: member,
        target,
        isCollection: value.$Collection === true,
        foreignKey: Object.keys(object(value.$ReferentialConstraint))[0],
        partner: text(value.$Partner),
      },
    ];
  });
  const properties = members
    .filter(([, value]) => value.$Kind === undefined || value.$Kind === 'Property')
    .map(([member, value]) => ({
      ...reader.property(member, value, rules),
      reference: navigations.find(({ foreignKey, isCollection }) => foreignKey === member && !isCollection)?.name,
    }));
  return {
    name,
    type: qualified,
    description: text(json['@Core.Description']),
    key,
    properties,
    navigations,
    operations: reader.operations(qualified),
    searchable: object(json['@Capabilities.SearchRestrictions']).Searchable !== false,
    read: capability(json, 'ReadRestrictions', 'Readable'),
    insert: capability(json, 'InsertRestrictions', 'Insertable'),
    deepInsert: object(json['@Capabilities.DeepInsertSupport']).Supported === true,
    update: capability(json, 'UpdateRestrictions', 'Updatable'),
    remove: capability(json, 'DeleteRestrictions', 'Deletable'),
    title: titleOf(properties, key),
  };
}

/** Reads a CSDL JSON document. */
export function readModel(document: unknown): Model {
  const root = object(document);
  const reader = new Reader(root);
  const container = reader.find(text(root.$EntityContainer) ?? '');
  const sets = new Map<string, EntitySet>();
  for (const [name, value] of Object.entries(container)) {
    const json = object(value);
    if (json.$Collection !== true) continue;
    const set = readSet(reader, name, json);
    if (set) sets.set(name, set);
  }
  return sets;
}

/** A property by its name. */
export function propertyOf(set: EntitySet, name: string): Property | undefined {
  return set.properties.find((property) => property.name === name);
}

/** A navigation property by its name. */
export function navigationOf(set: EntitySet, name: string | undefined): Navigation | undefined {
  return set.navigations.find((navigation) => navigation.name === name);
}
