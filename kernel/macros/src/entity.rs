//! From a struct with its own columns to one with all of them.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Error, Field, Fields, FieldsNamed, Ident, ItemStruct, LitInt, LitStr, Result, Token,
    Type, parse_quote,
};

/// The columns that the framework keeps.
const KEPT: [&str; 5] = ["id", "organisation_id", "version", "created_at", "updated_at"];

/// `"tools"`, or `"tools", times`.
struct Arguments {
    table: LitStr,
    has_times: bool,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let table = input.parse()?;
        let mut has_times = false;
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            let word: Ident = input.parse()?;
            if word != "times" {
                return Err(Error::new(
                    word.span(),
                    "write `times` for `created_at` and `updated_at`, or nothing",
                ));
            }
            has_times = true;
        }
        Ok(Self { table, has_times })
    }
}

/// What to do about a column that the framework keeps.
fn kept(name: &Ident, table: &LitStr, has_times: bool) -> String {
    if has_times || name != "created_at" && name != "updated_at" {
        return format!("`{name}` is kept for the entity; leave it out");
    }
    let table = table.value();
    format!(
        "leave `{name}` out and write `#[svc::entity(\"{table}\", times)]`, which adds and keeps it"
    )
}

pub(crate) fn entity(arguments: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let Arguments { table, has_times } = syn::parse2(arguments)?;
    let mut model: ItemStruct = syn::parse2(item)?;
    if model.ident != "Model" {
        let problem = "call it `Model`, and its module as one of them is called";
        return Err(Error::new(model.ident.span(), problem));
    }
    let Fields::Named(FieldsNamed { named, .. }) = &mut model.fields else {
        return Err(Error::new(model.ident.span(), "an entity has fields with names"));
    };
    let (mut columns, mut relations) = (Vec::new(), Vec::new());
    for mut field in std::mem::take(named) {
        let own = field.ident.as_ref().filter(|name| KEPT.iter().any(|kept| *name == kept));
        if let Some(name) = own {
            return Err(Error::new(name.span(), kept(name, &table, has_times)));
        }
        if is_relation(&field) {
            relations.push(field);
        } else {
            say_type(&mut field)?;
            columns.push(field);
        }
    }
    *named = all(columns, relations, has_times);
    // `sea_orm::model` knows the derive by this name alone, without a path.
    Ok(quote! {
        #[sea_orm::model]
        #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
        #[sea_orm(table_name = #table)]
        #model

        impl sea_orm::ActiveModelBehavior for ActiveModel {}
    })
}

/// Own columns among those that are kept, and relations behind them.
fn all(
    columns: Vec<Field>,
    relations: Vec<Field>,
    has_times: bool,
) -> Punctuated<Field, Token![,]> {
    let first: [Field; 2] = [
        parse_quote! {
            /// Tells the record from all others.
            #[sea_orm(primary_key, auto_increment = false)]
            pub id: sea_orm::prelude::Uuid
        },
        parse_quote! {
            /// The organisation that the record belongs to.
            pub organisation_id: sea_orm::prelude::Uuid
        },
    ];
    let version: Field = parse_quote! {
        /// Counts the changes of the record.
        pub version: i64
    };
    let times: [Field; 2] = [
        parse_quote! {
            /// When the record was made.
            pub created_at: sea_orm::prelude::TimeDateTimeWithTimeZone
        },
        parse_quote! {
            /// When the record was last changed.
            pub updated_at: sea_orm::prelude::TimeDateTimeWithTimeZone
        },
    ];
    let times = times.into_iter().filter(|_| has_times);
    first.into_iter().chain(columns).chain([version]).chain(times).chain(relations).collect()
}

fn is_relation(field: &Field) -> bool {
    const RELATIONS: [&str; 3] = ["belongs_to", "has_one", "has_many"];
    field.attrs.iter().filter(|attribute| attribute.path().is_ident("sea_orm")).any(|attribute| {
        let mut found = false;
        // What can't be read here is SeaORM's to refuse.
        let _ = attribute.parse_nested_meta(|word| {
            found |= RELATIONS.iter().any(|relation| word.path.is_ident(relation));
            if let Ok(value) = word.value() {
                value.parse::<syn::Expr>()?;
            }
            Ok(())
        });
        found
    })
}

/// Puts `#[text(…)]` and `#[decimal(…)]` into the words of `SeaORM`.
fn say_type(field: &mut Field) -> Result<()> {
    let nullable = is_option(&field.ty).then(|| quote!(, nullable));
    for attribute in &mut field.attrs {
        let column_type = if attribute.path().is_ident("text") {
            let most: LitInt =
                attribute.parse_args().map_err(|_| told(attribute, "#[text(100)]"))?;
            format!("String(StringLen::N({most}))")
        } else if attribute.path().is_ident("decimal") {
            let refused = |_| told(attribute, "#[decimal(12, 2)]");
            let digits = Punctuated::<LitInt, Token![,]>::parse_terminated;
            let digits = attribute.parse_args_with(digits).map_err(refused)?;
            let digits: Vec<&LitInt> = digits.iter().collect();
            let [all, behind] = digits[..] else {
                return Err(told(attribute, "#[decimal(12, 2)]"));
            };
            format!("Decimal(Some(({all}, {behind})))")
        } else {
            continue;
        };
        *attribute = parse_quote!(#[sea_orm(column_type = #column_type #nullable)]);
    }
    Ok(())
}

fn told(attribute: &Attribute, example: &str) -> Error {
    Error::new_spanned(attribute, format!("write it with whole numbers, such as `{example}`"))
}

fn is_option(of: &Type) -> bool {
    let Type::Path(path) = of else { return false };
    path.path.segments.last().is_some_and(|last| last.ident == "Option")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(arguments: TokenStream, item: TokenStream) -> String {
        entity(arguments, item).unwrap_err().to_string()
    }

    #[test]
    fn an_entity_has_what_is_kept_and_its_own() {
        let made = entity(
            quote!("tools", times),
            quote! {
                /// A tool.
                pub struct Model {
                    #[text(100)]
                    #[sea_orm(default_value = "hammer")]
                    pub name: String,
                    #[decimal(12, 2)]
                    pub price: Option<Decimal>,
                    #[sea_orm(belongs_to, from = "shelf_id", to = "id")]
                    pub shelf: BelongsTo<super::shelf::Entity>,
                }
            },
        );
        let wanted = quote! {
            #[sea_orm::model]
            #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
            #[sea_orm(table_name = "tools")]
            /// A tool.
            pub struct Model {
                /// Tells the record from all others.
                #[sea_orm(primary_key, auto_increment = false)]
                pub id: sea_orm::prelude::Uuid,
                /// The organisation that the record belongs to.
                pub organisation_id: sea_orm::prelude::Uuid,
                #[sea_orm(column_type = "String(StringLen::N(100))")]
                #[sea_orm(default_value = "hammer")]
                pub name: String,
                #[sea_orm(column_type = "Decimal(Some((12, 2)))", nullable)]
                pub price: Option<Decimal>,
                /// Counts the changes of the record.
                pub version: i64,
                /// When the record was made.
                pub created_at: sea_orm::prelude::TimeDateTimeWithTimeZone,
                /// When the record was last changed.
                pub updated_at: sea_orm::prelude::TimeDateTimeWithTimeZone,
                #[sea_orm(belongs_to, from = "shelf_id", to = "id")]
                pub shelf: BelongsTo<super::shelf::Entity>
            }

            impl sea_orm::ActiveModelBehavior for ActiveModel {}
        };
        assert_eq!(made.unwrap().to_string(), wanted.to_string());
    }

    #[test]
    fn what_is_wrong_is_said_where_it_stands() {
        let table = || quote!("tools");
        assert_eq!(
            refused(
                table(),
                quote!(
                    pub struct Model {
                        pub version: i64,
                    }
                )
            ),
            "`version` is kept for the entity; leave it out"
        );
        let own = quote!(
            pub struct Model {
                pub created_at: Time,
            }
        );
        assert_eq!(
            refused(table(), own.clone()),
            "leave `created_at` out and write `#[svc::entity(\"tools\", times)]`, which adds and keeps it"
        );
        assert_eq!(
            refused(quote!("tools", times), own),
            "`created_at` is kept for the entity; leave it out"
        );
        assert_eq!(
            refused(
                table(),
                quote!(
                    pub struct Tool {
                        pub name: String,
                    }
                )
            ),
            "call it `Model`, and its module as one of them is called"
        );
        assert_eq!(
            refused(
                table(),
                quote!(
                    pub struct Model;
                )
            ),
            "an entity has fields with names"
        );
        assert_eq!(
            refused(
                quote!("tools", dates),
                quote!(
                    pub struct Model {
                        pub name: String,
                    }
                )
            ),
            "write `times` for `created_at` and `updated_at`, or nothing"
        );
        for (wrong, example) in [
            (quote!(#[text]), "#[text(100)]"),
            (quote!(#[text("long")]), "#[text(100)]"),
            (quote!(#[decimal(12)]), "#[decimal(12, 2)]"),
        ] {
            assert_eq!(
                refused(table(), quote!(pub struct Model { #wrong pub name: String })),
                format!("write it with whole numbers, such as `{example}`")
            );
        }
    }
}
