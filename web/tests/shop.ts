/** A model to test with: products with a category, as a server describes them. */
import { readModel, type EntitySet } from '../src/core/model.ts';

const permissions = (...scopes: string[]) => [
  { SchemeName: 'Permissions', Scopes: scopes.map((Scope) => ({ Scope })) },
];

export const METADATA = {
  $Version: '4.01',
  $EntityContainer: 'Shop.Container',
  Shop: {
    $Alias: 'Self',
    Status: { $Kind: 'EnumType', open: 0, closed: 1, 'open@Core.Description': 'Can be ordered' },
    Category: {
      $Kind: 'EntityType',
      $Key: ['id'],
      id: { $Type: 'Edm.Guid' },
      name: { $MaxLength: 60 },
      products: { $Kind: 'NavigationProperty', $Collection: true, $Type: 'Shop.Product', $Partner: 'category' },
    },
    Product: {
      $Kind: 'EntityType',
      $Key: ['id'],
      id: { $Type: 'Edm.Guid', '@Core.Immutable': true, '@Core.ComputedDefaultValue': true },
      sku: { $MaxLength: 20 },
      name: { $MaxLength: 100 },
      note: { $Nullable: true, $MaxLength: 1000 },
      categoryId: { $Type: 'Edm.Guid', $Nullable: true },
      price: { $Type: 'Edm.Decimal', $Precision: 12, $Scale: 2 },
      stock: { $Type: 'Edm.Int32', '@Core.Immutable': true, $DefaultValue: 0 },
      status: { $Type: 'Shop.Status' },
      unit: { '@Self.IsFacet': true },
      discontinued: { $Type: 'Edm.Boolean' },
      orderedAt: { $Type: 'Edm.DateTimeOffset', $Nullable: true },
      createdAt: { $Type: 'Edm.DateTimeOffset', '@Core.Computed': true },
      category: {
        $Kind: 'NavigationProperty',
        $Type: 'Shop.Category',
        $Nullable: true,
        $ReferentialConstraint: { categoryId: 'id' },
      },
    },
    Receive: [
      {
        $Kind: 'Action',
        $IsBound: true,
        $Parameter: [
          { $Name: 'it', $Type: 'Shop.Product' },
          { $Name: 'quantity', $Type: 'Edm.Int32' },
        ],
        '@Capabilities.OperationRestrictions': { Permissions: permissions('Products.Receive') },
      },
    ],
    Left: [
      {
        $Kind: 'Function',
        $IsBound: true,
        $Parameter: [{ $Name: 'it', $Type: 'Shop.Product' }],
        $ReturnType: { $Type: 'Edm.Decimal', $Nullable: true },
      },
    ],
    Sweep: [
      { $Kind: 'Action', $IsBound: true, $Parameter: [{ $Name: 'all', $Type: 'Shop.Product', $Collection: true }] },
    ],
    Container: {
      $Kind: 'EntityContainer',
      Products: {
        $Collection: true,
        $Type: 'Shop.Product',
        $NavigationPropertyBinding: { category: 'Categories', secret: 'Nowhere' },
        '@Core.Description': 'What is sold',
        '@Capabilities.InsertRestrictions': {
          Insertable: true,
          Permissions: permissions('Products.Create'),
          NonInsertableProperties: ['createdAt'],
        },
        '@Capabilities.ReadRestrictions': {
          Permissions: [
            {
              SchemeName: 'Permissions',
              Scopes: [{ Scope: 'Products.View' }, { Scope: 'Products.SeeCosts', RestrictedProperties: 'price' }],
            },
          ],
        },
        '@Capabilities.UpdateRestrictions': { Updatable: true, NonUpdatableProperties: ['stock'] },
        '@Capabilities.DeleteRestrictions': { Deletable: false },
        '@Capabilities.SearchRestrictions': { Searchable: true },
      },
      Categories: {
        $Collection: true,
        $Type: 'Shop.Category',
        $NavigationPropertyBinding: { products: 'Products' },
        '@Capabilities.SearchRestrictions': { Searchable: false },
      },
      Today: { $Type: 'Shop.Product' },
    },
  },
};

export const model = readModel(METADATA);

function setNamed(name: string): EntitySet {
  const found = model.get(name);
  if (!found) throw new Error(`no set ${name}`);
  return found;
}

export const products = setNamed('Products');
export const categories = setNamed('Categories');
