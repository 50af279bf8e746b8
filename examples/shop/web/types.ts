// The types of the entity sets of `Shop`. Written from its metadata: change nothing here, write it anew.

/** A moment, such as `2026-11-20T12:00:00Z`. */
export type DateTimeOffset = string;

/** An exact number; JavaScript keeps 15 of its digits. With `IEEE754Compatible=true` it is a text. */
export type Decimal = number;

/** An identifier, such as `01234567-89ab-cdef-0123-456789abcdef`; in addresses and filters without quotes. */
export type Guid = string;

/** A whole number; JavaScript keeps 15 of its digits. With `IEEE754Compatible=true` it is a text. */
export type Int64 = number;

/** What an answer says of an entity besides its properties. */
export interface Control {
  readonly "@odata.context"?: string;
  /** The version, for `If-Match`. */
  readonly "@odata.etag"?: string;
}

/** What a list answers with. */
export interface Page<Entity> {
  "@odata.context"?: string;
  /** How many there are in all, with `$count=true`. */
  "@odata.count"?: number;
  /** The address of the next page; none on the last. */
  "@odata.nextLink"?: string;
  value: Entity[];
}

/** What an answer with a status of 400 and above holds. */
export interface ErrorAnswer {
  error: {
    code: string;
    message: string;
    /** The option or property that it is about. */
    target?: string;
    details?: { code: string; message: string; target?: string }[];
  };
}

/** An entity with the navigation properties that `$expand` named. */
export type Expanded<Entity, Navigation extends keyof Entity> = Entity & {
  [Name in Navigation]-?: Exclude<Entity[Name], undefined>;
};

/** One of these members, and none of the others. */
export type OneOf<Members> = {
  [Name in keyof Members]: Pick<Members, Name> & { [Other in Exclude<keyof Members, Name>]?: never };
}[keyof Members];

/** A new entity within another, which the members that lead back come from. */
export type Within<Create, Back extends PropertyKey> = Create extends unknown ? Omit<Create, Back> : never;

/** An entity with nothing but the properties that `$select` named. */
export type Selected<Entity, Property extends keyof Entity> = Control & Pick<Entity, Property>;

export type OrderStatus = "placed" | "shipped" | "cancelled";

/** One of `Categories`. */
export interface Category extends Control {
  readonly id: Guid;
  /** At most 60 characters. */
  name: string;
  /** At most 500 characters. */
  description: string | null;
  readonly createdAt: DateTimeOffset;
  readonly updatedAt: DateTimeOffset;
  /** With `$expand`. */
  products?: Product[];
}

/** A new `Category`, as sent. */
export interface CategoryCreate {
  id?: Guid;
  /** At most 60 characters. */
  name: string;
  /** At most 500 characters. */
  description?: string | null;
  products?: Within<ProductCreate, "categoryId" | "category" | "category@odata.bind">[];
  "products@odata.bind"?: string[];
}

/** The changes of a `Category`, as sent. */
export interface CategoryUpdate {
  /** At most 60 characters. */
  name?: string;
  /** At most 500 characters. */
  description?: string | null;
  "products@odata.bind"?: string[];
}

/** The names of the properties of `Category`. */
export type CategoryProperty = "id" | "name" | "description" | "createdAt" | "updatedAt";

/** The names of what leads from `Category` to other entities. */
export type CategoryNavigation = "products";

/** One of `Suppliers`. */
export interface Supplier extends Control {
  readonly id: Guid;
  /** At most 100 characters. */
  name: string;
  /** At most 100 characters. */
  contactName: string | null;
  /** At most 254 characters. Means `email`. */
  email: string | null;
  /** At most 40 characters. Means `phone`. */
  phone: string | null;
  /** At most 60 characters. */
  city: string;
  /** At most 2 characters. */
  country: string;
  /** Unit: day. `7` where it is left out. */
  leadTimeDays: number;
  readonly createdAt: DateTimeOffset;
  readonly updatedAt: DateTimeOffset;
  /** With `$expand`. */
  products?: Product[];
}

/** A new `Supplier`, as sent. */
export interface SupplierCreate {
  id?: Guid;
  /** At most 100 characters. */
  name: string;
  /** At most 100 characters. */
  contactName?: string | null;
  /** At most 254 characters. Means `email`. */
  email?: string | null;
  /** At most 40 characters. Means `phone`. */
  phone?: string | null;
  /** At most 60 characters. */
  city: string;
  /** At most 2 characters. */
  country: string;
  /** Unit: day. `7` where it is left out. */
  leadTimeDays?: number;
  products?: Within<ProductCreate, "supplierId" | "supplier" | "supplier@odata.bind">[];
  "products@odata.bind"?: string[];
}

/** The changes of a `Supplier`, as sent. */
export interface SupplierUpdate {
  /** At most 100 characters. */
  name?: string;
  /** At most 100 characters. */
  contactName?: string | null;
  /** At most 254 characters. Means `email`. */
  email?: string | null;
  /** At most 40 characters. Means `phone`. */
  phone?: string | null;
  /** At most 60 characters. */
  city?: string;
  /** At most 2 characters. */
  country?: string;
  /** Unit: day. `7` where it is left out. */
  leadTimeDays?: number;
  "products@odata.bind"?: string[];
}

/** The names of the properties of `Supplier`. */
export type SupplierProperty = "id" | "name" | "contactName" | "email" | "phone" | "city" | "country" | "leadTimeDays" | "createdAt" | "updatedAt";

/** The names of what leads from `Supplier` to other entities. */
export type SupplierNavigation = "products";

/** One of `Products`. */
export interface Product extends Control {
  readonly id: Guid;
  /** At most 20 characters. */
  sku: string;
  /** At most 100 characters. */
  name: string;
  /** At most 1000 characters. */
  description: string | null;
  categoryId: Guid;
  supplierId: Guid | null;
  /** At most 30 characters. `piece` where it is left out. A facet: lists are narrowed by its values. */
  unit: string;
  /** 12 digits, 2 of them after the point. In EUR. */
  price: Decimal;
  /** 12 digits, 2 of them after the point. In EUR. Only for those with `Products.SeeCosts`. */
  costPrice?: Decimal | null;
  /** `0` where it is left out. */
  readonly stock: number;
  /** `0` where it is left out. */
  reorderLevel: number;
  /** At most 30 characters. */
  region: string | null;
  /** `false` where it is left out. A facet: lists are narrowed by its values. */
  discontinued: boolean;
  readonly createdAt: DateTimeOffset;
  readonly updatedAt: DateTimeOffset;
  /** The units that wait for shipment. Only where `$select` names it. Only for those with `Orders.View`. */
  readonly ordered?: Int64;
  /** `soldOut`, `low` or `inStock`. At most 10 characters. Only where `$select` names it. A facet: lists are narrowed by its values. Only for those with `Products.View`. */
  readonly availability?: string;
  /** With `$expand`. */
  category?: Category | null;
  /** With `$expand`. */
  supplier?: Supplier | null;
  /** With `$expand`. */
  orderLines?: OrderLine[];
}

/** A new `Product`, as sent. */
export type ProductCreate = {
  id?: Guid;
  /** At most 20 characters. */
  sku: string;
  /** At most 100 characters. */
  name: string;
  /** At most 1000 characters. */
  description?: string | null;
  supplierId?: Guid | null;
  /** At most 30 characters. `piece` where it is left out. A facet: lists are narrowed by its values. */
  unit?: string;
  /** 12 digits, 2 of them after the point. In EUR. */
  price: Decimal;
  /** 12 digits, 2 of them after the point. In EUR. Only for those with `Products.SeeCosts`. */
  costPrice?: Decimal | null;
  /** `0` where it is left out. */
  stock?: number;
  /** `0` where it is left out. */
  reorderLevel?: number;
  /** At most 30 characters. */
  region?: string | null;
  /** `false` where it is left out. A facet: lists are narrowed by its values. */
  discontinued?: boolean;
  supplier?: SupplierCreate | null;
  "supplier@odata.bind"?: string | null;
} & OneOf<{ categoryId: Guid; category: CategoryCreate; "category@odata.bind": string; }>;

/** The changes of a `Product`, as sent. */
export interface ProductUpdate {
  /** At most 20 characters. */
  sku?: string;
  /** At most 100 characters. */
  name?: string;
  /** At most 1000 characters. */
  description?: string | null;
  categoryId?: Guid;
  supplierId?: Guid | null;
  /** At most 30 characters. `piece` where it is left out. A facet: lists are narrowed by its values. */
  unit?: string;
  /** 12 digits, 2 of them after the point. In EUR. */
  price?: Decimal;
  /** 12 digits, 2 of them after the point. In EUR. Only for those with `Products.SeeCosts`. */
  costPrice?: Decimal | null;
  /** `0` where it is left out. */
  reorderLevel?: number;
  /** At most 30 characters. */
  region?: string | null;
  /** `false` where it is left out. A facet: lists are narrowed by its values. */
  discontinued?: boolean;
  "category@odata.bind"?: string;
  "supplier@odata.bind"?: string | null;
}

/** The names of the properties of `Product`. */
export type ProductProperty = "id" | "sku" | "name" | "description" | "categoryId" | "supplierId" | "unit" | "price" | "costPrice" | "stock" | "reorderLevel" | "region" | "discontinued" | "createdAt" | "updatedAt" | "ordered" | "availability";

/** The names of what leads from `Product` to other entities. */
export type ProductNavigation = "category" | "supplier" | "orderLines";

/** One of `Customers`. */
export interface Customer extends Control {
  readonly id: Guid;
  /** At most 20 characters. */
  number: string;
  /** At most 100 characters. */
  name: string;
  /** At most 254 characters. Means `email`. */
  email: string | null;
  /** At most 40 characters. Means `phone`. */
  phone: string | null;
  /** At most 60 characters. A facet: lists are narrowed by its values. */
  city: string;
  /** At most 2 characters. A facet: lists are narrowed by its values. */
  country: string;
  /** 12 digits, 2 of them after the point. In EUR. */
  creditLimit: Decimal | null;
  readonly createdAt: DateTimeOffset;
  readonly updatedAt: DateTimeOffset;
  /** With `$expand`. */
  orders?: Order[];
}

/** A new `Customer`, as sent. */
export interface CustomerCreate {
  id?: Guid;
  /** At most 20 characters. */
  number: string;
  /** At most 100 characters. */
  name: string;
  /** At most 254 characters. Means `email`. */
  email?: string | null;
  /** At most 40 characters. Means `phone`. */
  phone?: string | null;
  /** At most 60 characters. A facet: lists are narrowed by its values. */
  city: string;
  /** At most 2 characters. A facet: lists are narrowed by its values. */
  country: string;
  /** 12 digits, 2 of them after the point. In EUR. */
  creditLimit?: Decimal | null;
}

/** The changes of a `Customer`, as sent. */
export interface CustomerUpdate {
  /** At most 20 characters. */
  number?: string;
  /** At most 100 characters. */
  name?: string;
  /** At most 254 characters. Means `email`. */
  email?: string | null;
  /** At most 40 characters. Means `phone`. */
  phone?: string | null;
  /** At most 60 characters. A facet: lists are narrowed by its values. */
  city?: string;
  /** At most 2 characters. A facet: lists are narrowed by its values. */
  country?: string;
  /** 12 digits, 2 of them after the point. In EUR. */
  creditLimit?: Decimal | null;
}

/** The names of the properties of `Customer`. */
export type CustomerProperty = "id" | "number" | "name" | "email" | "phone" | "city" | "country" | "creditLimit" | "createdAt" | "updatedAt";

/** The names of what leads from `Customer` to other entities. */
export type CustomerNavigation = "orders";

/** One of `Orders`. */
export interface Order extends Control {
  readonly id: Guid;
  /** At most 20 characters. */
  readonly number: string;
  readonly customerId: Guid;
  /** At most 60 characters. */
  reference: string | null;
  readonly status: OrderStatus;
  readonly orderedAt: DateTimeOffset;
  readonly shippedAt: DateTimeOffset | null;
  /** 12 digits, 2 of them after the point. In the currency that `currency` holds. */
  readonly total: Decimal;
  /** At most 3 characters. */
  readonly currency: string;
  readonly createdAt: DateTimeOffset;
  readonly updatedAt: DateTimeOffset;
  /** Where the record stands in its workflow. At most 40 characters. Only where `$select` names it. A facet: lists are narrowed by its values. Only for those with `Workflows.View`. */
  readonly workflowState?: string;
  /** Whether a step out of its state is the caller's to take. Only where `$select` names it. A facet: lists are narrowed by its values. Only for those with `Workflows.View`. */
  readonly workflowAwaitsMe?: boolean;
  /** With `$expand`. */
  customer?: Customer | null;
  /** With `$expand`. */
  orderLines?: OrderLine[];
}

/** The changes of a `Order`, as sent. */
export interface OrderUpdate {
  /** At most 60 characters. */
  reference?: string | null;
}

/** The names of the properties of `Order`. */
export type OrderProperty = "id" | "number" | "customerId" | "reference" | "status" | "orderedAt" | "shippedAt" | "total" | "currency" | "createdAt" | "updatedAt" | "workflowState" | "workflowAwaitsMe";

/** The names of what leads from `Order` to other entities. */
export type OrderNavigation = "customer" | "orderLines";

/** One of `OrderLines`. */
export interface OrderLine extends Control {
  readonly id: Guid;
  orderId: Guid;
  position: number;
  productId: Guid;
  quantity: number;
  /** 12 digits, 2 of them after the point. In the currency that `order/currency` holds. */
  unitPrice: Decimal;
  /** 12 digits, 2 of them after the point. In the currency that `order/currency` holds. */
  amount: Decimal;
  /** With `$expand`. */
  order?: Order | null;
  /** With `$expand`. */
  product?: Product | null;
}

/** The names of the properties of `OrderLine`. */
export type OrderLineProperty = "id" | "orderId" | "position" | "productId" | "quantity" | "unitPrice" | "amount";

/** The names of what leads from `OrderLine` to other entities. */
export type OrderLineNavigation = "order" | "product";

/** One of `Purchases`. */
export interface Purchase extends Control {
  readonly id: Guid;
  /** At most 60 characters. */
  reference: string;
  productId: Guid;
  supplierId: Guid | null;
  quantity: number;
  readonly receivedAt: DateTimeOffset | null;
  readonly createdAt: DateTimeOffset;
  readonly updatedAt: DateTimeOffset;
  /** Where the record stands in its workflow. At most 40 characters. Only where `$select` names it. A facet: lists are narrowed by its values. Only for those with `Workflows.View`. */
  readonly workflowState?: string;
  /** Whether a step out of its state is the caller's to take. Only where `$select` names it. A facet: lists are narrowed by its values. Only for those with `Workflows.View`. */
  readonly workflowAwaitsMe?: boolean;
  /** With `$expand`. */
  product?: Product | null;
  /** With `$expand`. */
  supplier?: Supplier | null;
}

/** A new `Purchase`, as sent. */
export type PurchaseCreate = {
  id?: Guid;
  /** At most 60 characters. */
  reference: string;
  supplierId?: Guid | null;
  quantity: number;
  supplier?: SupplierCreate | null;
  "supplier@odata.bind"?: string | null;
} & OneOf<{ productId: Guid; product: ProductCreate; "product@odata.bind": string; }>;

/** The changes of a `Purchase`, as sent. */
export interface PurchaseUpdate {
  /** At most 60 characters. */
  reference?: string;
  productId?: Guid;
  supplierId?: Guid | null;
  quantity?: number;
  "product@odata.bind"?: string;
  "supplier@odata.bind"?: string | null;
}

/** The names of the properties of `Purchase`. */
export type PurchaseProperty = "id" | "reference" | "productId" | "supplierId" | "quantity" | "receivedAt" | "createdAt" | "updatedAt" | "workflowState" | "workflowAwaitsMe";

/** The names of what leads from `Purchase` to other entities. */
export type PurchaseNavigation = "product" | "supplier";

/** The entity sets: what each holds and takes. */
export interface EntitySets {
  /** What kinds of products there are. */
  Categories: {
    entity: Category;
    key: Guid;
    create: CategoryCreate;
    update: CategoryUpdate;
    property: CategoryProperty;
    navigation: CategoryNavigation;
  };
  /** Who products are bought from. */
  Suppliers: {
    entity: Supplier;
    key: Guid;
    create: SupplierCreate;
    update: SupplierUpdate;
    property: SupplierProperty;
    navigation: SupplierNavigation;
  };
  /** What the shop sells. */
  Products: {
    entity: Product;
    key: Guid;
    create: ProductCreate;
    update: ProductUpdate;
    property: ProductProperty;
    navigation: ProductNavigation;
  };
  /** Who buys. */
  Customers: {
    entity: Customer;
    key: Guid;
    create: CustomerCreate;
    update: CustomerUpdate;
    property: CustomerProperty;
    navigation: CustomerNavigation;
  };
  /** What customers have ordered; commands place, ship and cancel. */
  Orders: {
    entity: Order;
    key: Guid;
    create: never;
    update: OrderUpdate;
    property: OrderProperty;
    navigation: OrderNavigation;
  };
  /** What orders consist of. */
  OrderLines: {
    entity: OrderLine;
    key: Guid;
    create: never;
    update: never;
    property: OrderLineProperty;
    navigation: OrderLineNavigation;
  };
  /** What the shop buys. */
  Purchases: {
    entity: Purchase;
    key: Guid;
    create: PurchaseCreate;
    update: PurchaseUpdate;
    property: PurchaseProperty;
    navigation: PurchaseNavigation;
  };
}

/** The name of an entity set. */
export type EntitySetName = keyof EntitySets;

/** The actions (`POST`) and functions (`GET`) by name: what each is called on, what it takes and returns. */
export interface Operations {
  /** Puts the goods back into stock. Needs `Orders.Cancel`. */
  "Shop.Cancel": { kind: "action"; binding: Order; parameters: Record<string, never>; returns: Order | null };
  /** What further orders may come to; none is no limit. Needs `Customers.View`. */
  "Shop.CreditLeft": { kind: "function"; binding: Customer; parameters: Record<string, never>; returns: Decimal | null };
  /** Adds a supplier's delivery to the stock. Needs `Products.ReceiveStock`. */
  "Shop.ReceiveStock": { kind: "action"; binding: Product; parameters: { quantity: number; costPrice?: Decimal | null }; returns: Product | null };
  /** Records that the goods have left. Needs `Orders.Ship`. */
  "Shop.Ship": { kind: "action"; binding: Order; parameters: Record<string, never>; returns: Order | null };
}
