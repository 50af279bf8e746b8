//! What the first start of the shop prepares, so that there is something to try at once.
//!
//! | Step | What a crash right after leaves |
//! | --- | --- |
//! | begin, and claim the one row of `sample_data`, for which a second node waits | nothing |
//! | make an organisation where there is none, with an administrator and an API key | nothing |
//! | load the sample data, unless the organisation has products already | nothing |
//! | commit | everything; the second node finds the row and goes on without |
//! | print the key | a key that nobody has read: delete the database and start again |

use std::io::Write as _;

use svc::http::HttpSettings;
use svc::identity::api_keys::{self, NewApiKey};
use svc::identity::users::NewUser;
use svc::identity::{ApiKeySecret, SetUp, set_up};
use svc::prelude::*;

use crate::settings::SampleSettings;
use crate::{product, sample};

/// Prepares a database that wasn't prepared before, where `Svc:Sample:Data` asks for it.
pub(crate) async fn prepare(app: App) -> Result<()> {
    if !app.settings::<SampleSettings>().data {
        return Ok(());
    }
    let system = Context::system(&app)?;
    let key = system.transact(async |uow| {
        if !claim(&uow).await? {
            return Ok(None);
        }
        let (organisation, key) = match first_organisation(&uow).await? {
            Some(organisation) => (organisation, None),
            None => make_organisation(&app).await.map(|(id, key)| (id, Some(key)))?,
        };
        let ctx = Context::system_in(&app, organisation)?;
        if ctx.query::<product::Entity>().count().await? == 0 {
            sample::load(&ctx).await?;
        }
        Ok(key)
    });
    if let Some(key) = key.await? {
        let text = introduction(&address(&app), &key);
        // Who closed the output doesn't want to read it.
        let _ = std::io::stdout().write_all(text.as_bytes());
    }
    Ok(())
}

/// Whether this is the first time, here and on all other nodes.
async fn claim(uow: &UnitOfWork) -> Result<bool> {
    let sql = "INSERT INTO sample_data (id) VALUES (1) ON CONFLICT (id) DO NOTHING";
    let statement = uow.context().database().statement(sql, []);
    Ok(uow.execute(statement).await? == 1)
}

async fn first_organisation(uow: &UnitOfWork) -> Result<Option<OrganisationId>> {
    // Ids carry the time at which they were made, so the least is the first.
    let sql = "SELECT id FROM identity_organisations ORDER BY id LIMIT 1";
    let rows = uow.rows(uow.context().database().statement(sql, [])).await?;
    let id = rows.first().map(|row| row.try_get_by_index::<Uuid>(0)).transpose();
    Ok(id.map_err(svc::database::database_error)?.map(OrganisationId))
}

async fn make_organisation(app: &App) -> Result<(OrganisationId, ApiKeySecret)> {
    let administrator = NewUser {
        email: "demo@shop.example".to_owned(),
        display_name: "Demo Administrator".to_owned(),
        ..NewUser::default()
    };
    let organisation = "Sample Wholesale".to_owned();
    let made = set_up(app, SetUp { organisation, administrator, api_key: None }).await?;
    let made = made.ok_or_else(|| Error::conflict("another program set the shop up just now"))?;
    let ctx = Context::system_in(app, made.organisation)?;
    let key = NewApiKey { name: "First start".to_owned(), ..NewApiKey::default() };
    let (_, secret) = api_keys::create(&ctx, made.administrator, key).await?;
    Ok((made.organisation, secret))
}

/// Where people reach the shop.
fn address(app: &App) -> String {
    let settings = app.settings::<HttpSettings>();
    match &settings.public_url {
        Some(url) => url.to_string().trim_end_matches('/').to_owned(),
        None => format!("http://{}", settings.listen),
    }
}

fn introduction(address: &str, key: &ApiKeySecret) -> String {
    let key = key.expose();
    format!(
        "\n\
         The shop is filled with sample data. This API key may do everything; it is shown once:\n\
         \n    {key}\n\n\
         Try it:\n\
         \n    curl -H 'Authorization: Bearer {key}' '{address}/odata/v1/Products?$top=3'\n\n\
         For a shop of your own, start on another database without `Svc:Sample:Data`.\n\n"
    )
}
