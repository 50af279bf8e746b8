//! Declared settings of an organisation.

use serde_json::{Value, json};
use svc_settings::ApplicationSetting;

fn attachment_limit() -> ApplicationSetting {
    ApplicationSetting::integer("Chat.MaxAttachmentMb", "Largest attachment.", 1..=1024, 25)
}

fn page_mode() -> ApplicationSetting {
    let options = &["Pager", "EndlessScroll"];
    ApplicationSetting::choice("DataTable.DefaultPageMode", "How tables page.", options, "Pager")
}

fn greeting() -> ApplicationSetting {
    ApplicationSetting::text("Desk.Greeting", "Text above the desk.", 5, "")
}

fn chime() -> ApplicationSetting {
    ApplicationSetting::boolean("Desk.Chime", "Whether messages sound.", false)
}

#[test]
fn values_are_checked_against_type_and_bounds() {
    let cases: [(ApplicationSetting, &[Value], &[Value]); 4] = [
        (
            attachment_limit(),
            &[json!(1), json!(25), json!(1024)],
            &[
                json!(0),
                json!(1025),
                json!(2.5),
                json!("25"),
                json!(null),
                json!(u64::MAX),
                json!([1]),
            ],
        ),
        (page_mode(), &[json!("Pager")], &[json!("pager"), json!(""), json!(1)]),
        (
            greeting(),
            &[json!(""), json!("Grüße"), json!("a\nb")],
            &[json!("abcdef"), json!("a\u{0}"), json!("\u{1b}"), json!(false)],
        ),
        (chime(), &[json!(true), json!(false)], &[json!(0), json!("true"), json!(null)]),
    ];
    for (setting, accepted, refused) in cases {
        setting.check_declaration().unwrap();
        for value in accepted {
            assert_eq!(setting.validate(value), Ok(()), "{} {value}", setting.name());
        }
        for value in refused {
            assert!(setting.validate(value).is_err(), "{} {value}", setting.name());
        }
        assert_eq!(setting.validate(setting.default_value()), Ok(()));
    }
}

#[test]
fn problems_are_told_in_one_line() {
    for (setting, value, expected) in [
        (
            attachment_limit(),
            json!(0),
            "`Chat.MaxAttachmentMb` = `0`: expected a whole number from 1 to 1024",
        ),
        (
            page_mode(),
            json!("x\ny"),
            "`DataTable.DefaultPageMode` = `x\\ny`: expected one of `Pager`, `EndlessScroll`",
        ),
        (
            greeting(),
            json!(7),
            "`Desk.Greeting` = `7`: expected a text of at most 5 characters without control characters",
        ),
        (chime(), json!(null), "`Desk.Chime` = `null`: expected `true` or `false`"),
    ] {
        assert_eq!(setting.validate(&value).unwrap_err().to_string(), expected);
    }
}

#[test]
fn a_declaration_must_be_sound() {
    let out_of_bounds = ApplicationSetting::integer("Chat.Limit", "A limit.", 1..=9, 10);
    assert_eq!(
        out_of_bounds.check_declaration().unwrap_err().to_string(),
        "`Chat.Limit` = `10`: the declared default breaks its own bounds: expected a whole number from 1 to 9",
    );
    for name in
        ["Limit", "Chat:Limit", "chat.Limit", "Chat.", ".Chat", "Chat..Limit", "Chat.Max Mb", ""]
    {
        let setting = ApplicationSetting::boolean(name, "A limit.", true);
        let problem = setting.check_declaration().unwrap_err();
        assert!(problem.to_string().contains("expected a name such as"), "{problem}");
    }
    let undocumented = ApplicationSetting::boolean("Chat.Limit", " ", true);
    assert_eq!(
        undocumented.check_declaration().unwrap_err().to_string(),
        "`Chat.Limit`: a description is missing",
    );
}

#[test]
fn a_settings_page_gets_what_it_needs() {
    assert_eq!(
        serde_json::to_value(attachment_limit()).unwrap(),
        json!({
            "name": "Chat.MaxAttachmentMb", "doc": "Largest attachment.", "type": "integer",
            "minimum": 1, "maximum": 1024, "scope": "organisation", "default": 25,
        }),
    );
    assert_eq!(
        serde_json::to_value(page_mode()).unwrap(),
        json!({
            "name": "DataTable.DefaultPageMode", "doc": "How tables page.", "type": "choice",
            "options": ["Pager", "EndlessScroll"], "scope": "organisation", "default": "Pager",
        }),
    );
    assert_eq!(serde_json::to_value(greeting()).unwrap()["maxLength"], 5);
}
