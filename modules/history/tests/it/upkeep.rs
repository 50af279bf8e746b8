//! What is sealed, deleted and blanked.

use std::time::Duration;

use serde_json::{Value as Json, json};
use svc_core::Result;
use svc_testing::on_both_databases;

use crate::fixture::{World, application};

const DAY: Duration = Duration::from_hours(24);

impl World {
    /// Runs the command as an operator does.
    pub(crate) async fn command(&self, words: &[&str]) -> Result<String> {
        let assembled = application().assemble().unwrap();
        let mut commands = assembled.commands().iter();
        let command = commands.find(|command| command.name() == "history").unwrap();
        let words = std::iter::once(&"history").chain(words);
        let arguments = command.words().clone().try_get_matches_from(words).unwrap();
        command.run(self.app.app().clone(), &arguments).await
    }

    /// Writes past the module, as somebody with the password of the database would.
    async fn tamper(&self, sql: &str) {
        let database = self.context().database().clone();
        let touched = database.execute(database.statement(sql, [])).await.unwrap();
        assert!(touched > 0, "{sql}");
    }

    async fn seal(&self) {
        self.app.advance(Duration::from_mins(10));
        self.app.drain().await;
    }

    async fn problem(&self) -> String {
        self.command(&["check"]).await.unwrap_err().message().to_owned()
    }
}

on_both_databases! {
    async fn a_change_of_what_was_sealed_is_found(backend) {
        let world = World::new(backend).await;
        let id = world.product("A-1").await;
        assert_eq!(world.command(&["check"]).await.unwrap(), "nothing is sealed yet\n");
        world.change(&id, json!({"price": 1})).await;
        world.seal().await;
        let said = world.command(&["check"]).await.unwrap();
        assert!(said.contains("2 entries in 1 seals"), "{said}");
        world.change(&id, json!({"price": 2})).await;
        world.seal().await;
        world.seal().await;
        let said = world.command(&["check"]).await.unwrap();
        assert!(said.contains("3 entries in 2 seals"), "{said}");
        world.tamper("UPDATE history_entries SET user_name = 'Eve' WHERE position = 4").await;
        assert!(world.problem().await.contains("was changed"));
        world.tamper("UPDATE history_entries SET user_name = 'Ada' WHERE position = 4").await;
        assert!(world.command(&["check"]).await.is_ok());
        world.tamper("UPDATE history_seals SET lines = lines || 'x' WHERE number = 1").await;
        assert!(world.command(&["check"]).await.is_err());
        world.tamper("UPDATE history_seals SET lines = substr(lines, 1, length(lines) - 1) WHERE number = 1").await;
        world.tamper("UPDATE history_seals SET hash = 'x' WHERE number = 1").await;
        assert!(world.problem().await.contains("seal 2 does not follow"));
        world.tamper("DELETE FROM history_entries WHERE position = 4").await;
        assert!(world.problem().await.contains("is gone"));
    }

    async fn what_was_added_later_is_found(backend) {
        let world = World::new(backend).await;
        let id = world.product("A-1").await;
        world.change(&id, json!({"price": 1})).await;
        let moved = "UPDATE history_entries SET organisation_id = unit_id WHERE position = 2";
        world.tamper(moved).await;
        world.seal().await;
        world.tamper(
            "UPDATE history_entries SET organisation_id = \
             (SELECT organisation_id FROM history_entries WHERE position = 4) WHERE position = 2",
        )
        .await;
        let problem = world.problem().await;
        assert!(problem.contains("was added later") || problem.contains("is gone"), "{problem}");
    }

    async fn each_organisation_says_how_long_what_is_kept(backend) {
        let world = World::new(backend).await;
        let client = world.client();
        for (name, value) in [("History.RetentionDays", json!(30)), ("History.SetRetentionDays", json!("Makers = 60"))] {
            let path = format!("/api/v1/settings/{name}");
            let answer = client.put(&path, json!({"value": value})).await;
            assert!(answer.status.is_success(), "{}", answer.text);
        }
        for wrong in ["Makers 60", "Makers=sixty", "Makers=60;Products=90", "Makers=0"] {
            let answer = client.put("/api/v1/settings/History.SetRetentionDays", json!({"value": wrong})).await;
            assert_eq!(answer.status.as_u16(), 422, "{wrong}: {}", answer.text);
            assert!(answer.text.contains("is not understood"), "{}", answer.text);
        }
        let changed = client.get("/api/v1/audit?event=ApplicationSettingChanged").await.expect(200);
        assert_eq!(changed["items"].as_array().unwrap().len(), 2);
        let id = world.product("A-1").await;
        let _ = client.post("/odata/v1/Makers", json!({"name": "Alpha"})).await.expect(201);
        assert_eq!(world.entries().await, 4);
        world.seal().await;
        world.app.advance(20 * DAY);
        world.app.drain().await;
        assert_eq!(world.entries().await, 4);
        world.change(&id, json!({"price": 1})).await;
        world.app.advance(20 * DAY);
        world.app.drain().await;
        let client = world.client();
        let left = client.get("/api/v1/audit").await.expect(200);
        let sets: Vec<&Json> = left["items"].as_array().unwrap().iter().map(|entry| &entry["set"]).collect();
        assert_eq!(sets, ["Products", "Makers"]);
        let said = world.command(&["check"]).await.unwrap();
        assert!(said.contains("5 entries"), "{said}");
        world.tamper("DELETE FROM history_entries WHERE set_name = 'Makers'").await;
        assert!(world.problem().await.contains("of `Makers` is gone"));
    }

    async fn what_belongs_to_all_is_kept_as_long_as_the_configuration_says(backend) {
        let world = World::with(&[("Svc:History:SharedRetentionDays", "30")], backend).await;
        let client = world.client();
        let _ = client.post("/odata/v1/Countries", json!({"name": "Atlantis"})).await.expect(201);
        world.product("A-1").await;
        // The country's stands where it belongs to all, and among what the people of an organisation did.
        assert_eq!(world.entries().await, 3);
        world.seal().await;
        world.app.advance(20 * DAY);
        world.app.drain().await;
        assert_eq!(world.entries().await, 3);
        world.app.advance(20 * DAY);
        world.app.drain().await;
        let sql = "SELECT COUNT(*) FROM history_entries WHERE set_name = 'Countries'";
        assert_eq!((world.entries().await, world.number(sql).await), (2, 1), "the organisation keeps its own");
        assert!(world.command(&["check"]).await.is_ok());
    }

    async fn what_is_about_somebody_is_blanked_and_that_is_recorded(backend) {
        let world = World::new(backend).await;
        let client = world.client();
        let id = world.product("A-1").await;
        world.change(&id, json!({"contact": "Zoe"})).await;
        world.seal().await;
        let organisation = svc_testing::organisation(1).to_string();
        let (ada, nobody) = (world.ada.id().to_string(), id.clone());
        let refused = world.command(&["blank-person", &organisation, &nobody]).await;
        assert!(refused.is_err());
        let said = world.command(&["blank-record", &organisation, "Products", &id]).await.unwrap();
        assert_eq!(said, "2 entries were blanked\n");
        let said = world.command(&["blank-person", &organisation, &ada]).await.unwrap();
        assert_eq!(said, "2 entries were blanked\n");
        let sql = "SELECT COUNT(*) FROM history_entries WHERE user_name = 'Ada' OR row_after LIKE '%Zoe%' \
                   OR row_before LIKE '%Lamp%' OR row_after LIKE '%Lamp%'";
        assert_eq!(world.number(sql).await, 0);
        assert!(world.command(&["check"]).await.is_ok(), "by the rules");
        world.seal().await;
        assert!(world.command(&["check"]).await.is_ok());
        let blanked = client.get("/api/v1/audit?event=HistoryBlanked").await.expect(200);
        let told: Vec<&Json> = blanked["items"].as_array().unwrap().iter().map(|entry| &entry["data"]).collect();
        assert_eq!(told[1], &json!({"user": null, "set": "Products", "record": id, "entries": 2}));
        assert_eq!(told[0]["user"], json!(world.ada.id()));
        let history = world.history("Products", &id).await;
        assert_eq!((history.len(), &history[0]["fields"]), (1, &json!([])));
        let body = json!({"entry": history[0]["id"], "version": 2, "mode": "After"});
        let refused = client.post(&format!("/api/v1/history/Products/{id}/restore"), body).await.expect(422);
        assert_eq!(refused["code"], "history.cannot_go_back");
        world.tamper("UPDATE history_entries SET blanked = 0 WHERE position = 4").await;
        assert!(world.problem().await.contains("was changed"));
    }
}
