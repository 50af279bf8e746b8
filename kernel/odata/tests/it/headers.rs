//! Headers.

use svc_odata::headers::{
    EntityTag, JsonFormat, MetadataFormat, MetadataLevel, Preferences, ReturnPreference,
    TagCondition, Version, negotiate_json, negotiate_metadata, negotiate_version,
    parse_content_type,
};
use svc_odata::syntax::Format;

#[test]
fn versions_are_negotiated() {
    let cases = [
        (None, None, Some(Version::V401)),
        (None, Some("4.0"), Some(Version::V4)),
        (None, Some("4.01"), Some(Version::V401)),
        (None, Some("5.0"), Some(Version::V401)),
        (None, Some("4.02"), Some(Version::V401)),
        (None, Some("4.99999999999"), Some(Version::V401)),
        (None, Some("99999999999.0"), Some(Version::V401)),
        (None, Some("04.0"), Some(Version::V4)),
        (Some("4.99999999999"), None, None),
        (Some("99999999999"), None, None),
        (Some("4.00"), None, Some(Version::V4)),
        (Some("4"), None, Some(Version::V4)),
        (Some("-4.0"), None, None),
        (Some("4."), None, None),
        (Some("4.0.1"), None, None),
        (Some("４.0"), None, None),
        (Some("4.0"), None, Some(Version::V4)),
        (Some("4.01"), None, Some(Version::V401)),
        (Some("4.01"), Some("4.0"), Some(Version::V4)),
        (Some(" 4.0 "), Some("4.01"), Some(Version::V401)),
        (None, Some("3.0"), None),
        (None, Some("2"), None),
        (None, Some("four"), None),
        (None, Some(""), None),
        (Some("3.0"), None, None),
        (Some("4.02"), None, None),
        (Some("x"), None, None),
    ];
    for (version, max, expected) in cases {
        assert_eq!(negotiate_version(version, max).ok(), expected, "{version:?} {max:?}");
    }
    let error = negotiate_version(None, Some("3.0")).expect_err("too low").to_string();
    assert_eq!(
        error,
        "the header `OData-MaxVersion` is `3.0`; this service speaks `4.0` and `4.01`"
    );
}

#[test]
fn preferences_are_read() {
    let parsed = Preferences::parse(
        "return=minimal, odata.include-annotations=\"a,return=representation\", \
         odata.maxpagesize=50, odata.callback; url=\"http://x/?a=\\\"1\\\",2\", continue-on-error",
    );
    assert_eq!(
        parsed,
        Preferences {
            return_content: Some(ReturnPreference::Minimal),
            max_page_size: Some(50),
            continue_on_error: Some(true),
        }
    );
    assert_eq!(
        Preferences::parse("RETURN=representation").return_content,
        Some(ReturnPreference::Representation)
    );
    assert_eq!(
        Preferences::parse("return=minimal, return=representation").return_content,
        Some(ReturnPreference::Minimal)
    );
    assert_eq!(Preferences::parse("continue-on-error=false").continue_on_error, Some(false));
    for nothing in [
        "",
        "return=some",
        "maxpagesize=0",
        "maxpagesize=-1",
        "odata.maxpagesize=x",
        "foo=bar; baz",
        ";,=,\"",
    ] {
        assert_eq!(Preferences::parse(nothing), Preferences::default(), "{nothing}");
    }
}

#[test]
fn entity_tags_are_compared() {
    let tag = EntityTag::weak("5");
    assert_eq!(tag.to_string(), "W/\"5\"");
    assert_eq!(EntityTag::parse("W/\"5\""), Some(tag.clone()));
    assert_eq!(EntityTag::parse(" \"5\" "), Some(EntityTag { weak: false, tag: "5".to_owned() }));
    for malformed in ["5", "W/5", "\"5", "w/\"5\"", "\"a\"b\"", "\"a b\""] {
        assert_eq!(EntityTag::parse(malformed), None, "{malformed}");
    }
    let matches =
        |condition: &str| TagCondition::parse(condition).expect(condition).matches(Some(&tag));
    assert!(matches("*") && matches("W/\"5\"") && matches("\"5\"") && matches("W/\"4\", W/\"5\""));
    assert!(!matches("W/\"4\"") && !matches("W/\"4,5\""));
    assert!(!TagCondition::parse("*").expect("star").matches(None), "nothing is there");
    for malformed in ["", "5", "W/\"5\",", "W/\"5\" W/\"6\"", "*, \"5\"", "\"5"] {
        let refused = TagCondition::parse(malformed).is_none();
        assert_eq!(refused, malformed != "W/\"5\",", "{malformed}");
    }
}

#[test]
fn json_formats_are_negotiated() {
    let format = |metadata, ieee754_compatible| {
        Some(JsonFormat { metadata, ieee754_compatible, streaming: false })
    };
    let minimal = format(MetadataLevel::Minimal, false);
    let cases = [
        (None, minimal),
        (Some(""), minimal),
        (Some("*/*"), minimal),
        (Some("application/json"), minimal),
        (Some("application/json;odata.metadata=full"), format(MetadataLevel::Full, false)),
        (
            Some("application/json;metadata=none;IEEE754Compatible=true"),
            format(MetadataLevel::None, true),
        ),
        (Some("APPLICATION/JSON; ODATA.METADATA=NONE"), format(MetadataLevel::None, false)),
        (
            Some("application/json;odata.metadata=minimal;odata.streaming=true;charset=utf-8"),
            Some(JsonFormat { streaming: true, ..JsonFormat::default() }),
        ),
        (Some("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"), minimal),
        (
            Some("application/json;q=0.5,application/json;odata.metadata=full"),
            format(MetadataLevel::Full, false),
        ),
        (
            Some("application/json;odata.metadata=some,application/json;odata.metadata=full;q=0.1"),
            format(MetadataLevel::Full, false),
        ),
        (Some("application/json;odata.metadata=some"), None),
        (Some("application/json;q=0"), None),
        (Some("application/atom+xml"), None),
        (Some("application/json;charset=latin1"), None),
    ];
    for (accept, expected) in cases {
        assert_eq!(negotiate_json(None, accept).ok(), expected, "{accept:?}");
    }
    let media_type = |text: &str| Format::MediaType(text.to_owned());
    assert_eq!(
        negotiate_json(Some(&Format::Json), Some("text/html")).ok(),
        minimal,
        "$format counts first"
    );
    assert_eq!(
        negotiate_json(Some(&media_type("application/json;odata.metadata=full")), None).ok(),
        format(MetadataLevel::Full, false)
    );
    for refused in [Format::Xml, Format::Atom, media_type("xlsx"), media_type("text/html")] {
        let error = negotiate_json(Some(&refused), None).expect_err("no JSON");
        assert_eq!(error.status(), 406);
    }
    let compatible = JsonFormat { ieee754_compatible: true, ..JsonFormat::default() };
    assert_eq!(
        compatible.content_type(),
        "application/json;odata.metadata=minimal;IEEE754Compatible=true"
    );
}

#[test]
fn metadata_formats_are_negotiated() {
    let cases = [
        (None, Some(MetadataFormat::Xml)),
        (Some("application/xml"), Some(MetadataFormat::Xml)),
        (Some("application/json"), Some(MetadataFormat::Json)),
        (Some("*/*"), Some(MetadataFormat::Xml)),
        (Some("application/json, application/xml;q=0.5"), Some(MetadataFormat::Json)),
        (Some("application/json;q=0.1, */*"), Some(MetadataFormat::Xml)),
        (Some("image/png"), None),
    ];
    for (accept, expected) in cases {
        assert_eq!(negotiate_metadata(None, accept).ok(), expected, "{accept:?}");
    }
    assert_eq!(negotiate_metadata(Some(&Format::Json), None).ok(), Some(MetadataFormat::Json));
    assert_eq!(
        negotiate_metadata(Some(&Format::Xml), Some("application/json")).ok(),
        Some(MetadataFormat::Xml)
    );
    assert!(negotiate_metadata(Some(&Format::Atom), None).is_err());
}

#[test]
fn bodies_are_json() {
    assert!(parse_content_type(None).is_ok());
    assert!(parse_content_type(Some("application/json;charset=UTF-8")).is_ok());
    assert!(
        parse_content_type(Some("application/json;IEEE754Compatible=true"))
            .expect("json")
            .ieee754_compatible
    );
    for refused in
        ["text/plain", "application/xml", "*/*", "application/json;charset=utf-16", "json"]
    {
        assert_eq!(
            parse_content_type(Some(refused)).expect_err(refused).status(),
            415,
            "{refused}"
        );
    }
}

#[test]
fn what_a_caller_does_not_take_is_not_served_by_a_wildcard() {
    let json = |accept: &str| negotiate_json(None, Some(accept)).map(|format| format.metadata).ok();
    let cases = [
        ("application/json;q=0, */*", None),
        ("*/*, application/json;q=0.0", None),
        ("application/*, application/json;q=0", None),
        ("APPLICATION/JSON;Q=0.000, */*;q=0.1", None),
        // What is asked for by its name is taken, whatever else is said.
        ("application/json;odata.metadata=full, application/json;q=0", Some(MetadataLevel::Full)),
        // Only one of its forms is refused.
        ("application/json;odata.metadata=full;q=0, */*", Some(MetadataLevel::Minimal)),
        ("text/html;q=0, */*", Some(MetadataLevel::Minimal)),
        ("*/*;q=0, application/json", Some(MetadataLevel::Minimal)),
        ("*/*;q=0", None),
    ];
    for (accept, expected) in cases {
        assert_eq!(json(accept), expected, "{accept}");
    }
    let metadata = |accept: &str| negotiate_metadata(None, Some(accept)).ok();
    let cases = [
        ("application/xml;q=0, */*", Some(MetadataFormat::Json)),
        ("*/*, application/json;q=0", Some(MetadataFormat::Xml)),
        ("application/xml;q=0, application/json;q=0, */*", None),
        ("application/*;q=0.5, application/xml;q=0", Some(MetadataFormat::Json)),
        ("application/xml;q=0, application/xml;q=0.1", Some(MetadataFormat::Xml)),
    ];
    for (accept, expected) in cases {
        assert_eq!(metadata(accept), expected, "{accept}");
    }
}

#[test]
fn qualities_choose_the_form_and_what_can_not_be_read_is_passed_over() {
    let level =
        |accept: &str| negotiate_json(None, Some(accept)).map(|format| format.metadata).ok();
    let (none, full) =
        ("application/json;odata.metadata=none", "application/json;odata.metadata=full");
    let cases = [
        (format!("{none};q=0.2,{full};q=0.3"), Some(MetadataLevel::Full)),
        (format!("{none};q=0.3,{full};q=0.2"), Some(MetadataLevel::None)),
        (format!("{none},{full}"), Some(MetadataLevel::None)),
        // What is named counts before what stands for all, where both are wanted as much.
        (format!("*/*,{full}"), Some(MetadataLevel::Full)),
        (format!("*/*;q=0.9,{full};q=0.8"), Some(MetadataLevel::Minimal)),
        (format!("{full};q=2"), None),
        (format!("{full};q=-0.5,{none};q=0.1"), Some(MetadataLevel::None)),
        (format!("{full};q=NaN,{none};q="), None),
        (format!("{full};streaming"), None),
        (format!(",, ,{full},"), Some(MetadataLevel::Full)),
        (r#"application/json;odata.metadata="full""#.to_owned(), Some(MetadataLevel::Full)),
        (
            r#"application/json;x="a,b;c\"d";odata.metadata=none"#.to_owned(),
            Some(MetadataLevel::None),
        ),
        ("application/json;charset=\"UTF-8\"".to_owned(), Some(MetadataLevel::Minimal)),
        ("application/json;ieee754compatible=maybe".to_owned(), None),
    ];
    for (accept, expected) in cases {
        assert_eq!(level(&accept), expected, "{accept}");
    }
}

#[test]
fn lists_of_tags_may_have_empty_places_and_commas_within_tags() {
    let parsed = |text: &str| match TagCondition::parse(text) {
        Some(TagCondition::Tags(tags)) => {
            Some(tags.into_iter().map(|tag| tag.to_string()).collect::<Vec<_>>())
        }
        Some(TagCondition::Any) => Some(vec!["*".to_owned()]),
        None => None,
    };
    let tags = |tags: &[&str]| Some(tags.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>());
    let cases = [
        ("\"a\"", tags(&["\"a\""])),
        ("\"a\",\"b\"", tags(&["\"a\"", "\"b\""])),
        (" W/\"a\" ,\t\"b\" ", tags(&["W/\"a\"", "\"b\""])),
        (",\"a\",,\"b\",", tags(&["\"a\"", "\"b\""])),
        ("\"a,b\"", tags(&["\"a,b\""])),
        ("\"\"", tags(&["\"\""])),
        ("\"ä\"", tags(&["\"ä\""])),
        (" * ", tags(&["*"])),
        (",", None),
        (", ,", None),
        ("\"a\" \"b\"", None),
        ("\"a\"W/\"b\"", None),
        ("\"a\",b", None),
        ("\"a\",W/", None),
        ("\"a\nb\"", None),
        ("**", None),
    ];
    for (text, expected) in cases {
        assert_eq!(parsed(text), expected, "{text}");
    }
}

#[test]
fn the_first_of_two_preferences_counts_and_what_is_malformed_is_none() {
    let cases = [
        ("maxpagesize=2,maxpagesize=3", Some(2)),
        ("odata.maxpagesize=0,maxpagesize=3", Some(3)),
        ("maxpagesize=99999999999,maxpagesize=3", Some(3)),
        ("MaxPageSize=\"4\"", Some(4)),
        ("maxpagesize = 5 ; x=1", Some(5)),
        ("maxpagesize", None),
        ("x=\"maxpagesize=6\"", None),
        ("x=\"a\\\",maxpagesize=7\"", None),
    ];
    for (text, expected) in cases {
        assert_eq!(Preferences::parse(text).max_page_size, expected, "{text}");
    }
    let both = Preferences::parse("return=never, return=minimal, return=representation");
    assert_eq!(both.return_content, Some(ReturnPreference::Minimal));
    let goes_on = |text: &str| Preferences::parse(text).continue_on_error;
    assert_eq!(
        (goes_on("continue-on-error"), goes_on("odata.continue-on-error=TRUE")),
        (Some(true), Some(true))
    );
    assert_eq!(
        (goes_on("continue-on-error=false,continue-on-error"), goes_on("continue-on-error=1")),
        (Some(false), None)
    );
}
