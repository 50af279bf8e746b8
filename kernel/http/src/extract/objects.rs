//! A reader whose structures come from objects only.
//!
//! `serde_json` also takes a list for a structure, its items in the order of the fields. To a
//! caller of an API that is a value of the wrong type, at any depth, so every access to something
//! within is wrapped too.
//!
//! Where serde keeps what it reads to read it again by itself, nothing can be wrapped: a structure within an enumeration that is tagged
//! within (`#[serde(tag = "…")]`), or is untagged, and one within what is flattened, is still taken from a list.

use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, Expected, MapAccess, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};

/// What such an enumeration says that it expects.
pub(super) const TAGGED: &str = "internally tagged enum ";

/// Wraps a deserializer, or anything of serde's that leads to one.
pub(super) struct Objects<T>(pub(super) T);

/// Passes on what has nothing to do with structures, wrapping the visitor.
macro_rules! pass_on {
    ($($method:ident($($argument:ident: $type:ty),*);)+) => {
        $(fn $method<V: Visitor<'de>>(
            self,
            $($argument: $type,)*
            visitor: V,
        ) -> Result<V::Value, Self::Error> {
            self.0.$method($($argument,)* Objects(visitor))
        })+
    };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Objects<D> {
    type Error = D::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(Objects(visitor))
    }

    pass_on! {
        deserialize_any();
        deserialize_bool();
        deserialize_i8();
        deserialize_i16();
        deserialize_i32();
        deserialize_i64();
        deserialize_i128();
        deserialize_u8();
        deserialize_u16();
        deserialize_u32();
        deserialize_u64();
        deserialize_u128();
        deserialize_f32();
        deserialize_f64();
        deserialize_char();
        deserialize_str();
        deserialize_string();
        deserialize_bytes();
        deserialize_byte_buf();
        deserialize_option();
        deserialize_unit();
        deserialize_unit_struct(name: &'static str);
        deserialize_newtype_struct(name: &'static str);
        deserialize_seq();
        deserialize_tuple(length: usize);
        deserialize_tuple_struct(name: &'static str, length: usize);
        deserialize_map();
        deserialize_enum(name: &'static str, variants: &'static [&'static str]);
        deserialize_identifier();
        deserialize_ignored_any();
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

/// Passes on a value that holds nothing further.
macro_rules! visit {
    ($($method:ident($type:ty);)+) => {
        $(fn $method<E: Error>(self, value: $type) -> Result<V::Value, E> {
            self.0.$method(value)
        })+
    };
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Objects<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    visit! {
        visit_bool(bool);
        visit_i8(i8);
        visit_i16(i16);
        visit_i32(i32);
        visit_i64(i64);
        visit_i128(i128);
        visit_u8(u8);
        visit_u16(u16);
        visit_u32(u32);
        visit_u64(u64);
        visit_u128(u128);
        visit_f32(f32);
        visit_f64(f64);
        visit_char(char);
        visit_str(&str);
        visit_borrowed_str(&'de str);
        visit_string(String);
        visit_bytes(&[u8]);
        visit_borrowed_bytes(&'de [u8]);
        visit_byte_buf(Vec<u8>);
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, value: D) -> Result<V::Value, D::Error> {
        self.0.visit_some(Objects(value))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, value: D) -> Result<V::Value, D::Error> {
        self.0.visit_newtype_struct(Objects(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<V::Value, A::Error> {
        // An enumeration whose tag stands within reads itself from whatever there is, by serde's own hand
        // also from a list. Its name for itself is all that tells it from what may be one.
        let expected: &dyn Expected = &self;
        if expected.to_string().starts_with(TAGGED) {
            return Err(Error::invalid_type(Unexpected::Seq, expected));
        }
        self.0.visit_seq(Objects(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(Objects(entries))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, variant: A) -> Result<V::Value, A::Error> {
        self.0.visit_enum(Objects(variant))
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Objects<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(Objects(reader))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Objects<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(Objects(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Objects<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.0.next_key_seed(Objects(seed))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(Objects(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: EnumAccess<'de>> EnumAccess<'de> for Objects<A> {
    type Error = A::Error;
    type Variant = Objects<A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self::Variant), A::Error> {
        let (value, variant) = self.0.variant_seed(Objects(seed))?;
        Ok((value, Objects(variant)))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Objects<A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.0.unit_variant()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        self.0.newtype_variant_seed(Objects(seed))
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.0.tuple_variant(length, Objects(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.0.newtype_variant_seed(Fields(visitor))
    }
}

/// The fields of a variant, which come from an object like those of a structure.
struct Fields<V>(V);

impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for Fields<V> {
    type Value = V::Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<V::Value, D::Error> {
        reader.deserialize_map(Objects(self.0))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Outer {
        name: String,
        inner: Option<Vec<Inner>>,
        pair: (u8, i64),
        map: BTreeMap<u16, Inner>,
        choice: Choice,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Inner {
        number: f64,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    enum Choice {
        Nothing,
        Number(u32),
        Shape { side: u32 },
    }

    fn read(text: &str) -> Result<Outer, serde_json::Error> {
        Outer::deserialize(Objects(&mut serde_json::Deserializer::from_str(text)))
    }

    #[test]
    fn everything_else_is_read_as_before() {
        for choice in [r#""Nothing""#, r#"{"Number":3}"#, r#"{"Shape":{"side":3}}"#] {
            let text = format!(
                r#"{{"name":"a","inner":[{{"number":1}}],"pair":[1,-2],
                    "map":{{"7":{{"number":2.5}}}},"choice":{choice}}}"#
            );
            assert_eq!(read(&text).unwrap(), serde_json::from_str(&text).unwrap());
        }
    }

    #[test]
    fn a_list_is_no_structure_at_any_depth() {
        assert!(serde_json::from_str::<Inner>("[1]").is_ok(), "the wrapper is of use");
        for text in [
            r#"["a",null,[1,2],{},"Nothing"]"#,
            r#"{"name":"a","inner":[[1]],"pair":[1,2],"map":{},"choice":"Nothing"}"#,
            r#"{"name":"a","inner":null,"pair":[1,2],"map":{"7":[1]},"choice":"Nothing"}"#,
            r#"{"name":"a","inner":null,"pair":[1,2],"map":{},"choice":{"Shape":[3]}}"#,
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
