//! One person's requests take nothing from others.

use std::time::Duration;

use futures::future::join_all;
use svc_testing::on_both_databases;

use crate::fixture::{ADA, BOB, Call, EVE, Fixture};

/// A person may have three requests at once, an organisation four, and one of a person may wait.
const FEW: [&str; 4] = [
    "--Svc:Http:PersonRequests=3",
    "--Svc:Http:OrganisationRequests=4",
    "--Svc:Http:WaitingRequests=1",
    "--Svc:Http:WaitingTime=00:00:00.300",
];

on_both_databases! {
    async fn one_person_with_many_requests_leaves_others_theirs(backend) {
        let fixture = Fixture::with_settings(backend, &FEW).await;
        let stay = || fixture.send(Call::get("/try/stay").by(ADA));
        let others = async {
            // Three stay, one waits, and the other 196 are refused at once.
            tokio::time::sleep(Duration::from_millis(50)).await;
            let refused = fixture.send(Call::get("/try/who").by(ADA)).await;
            let (detail, _) = refused.problem(429);
            assert!(detail.contains("`Svc:Http:PersonRequests`"), "{detail}");
            assert_eq!(refused.header("retry-after"), "1");
            // A colleague, somebody else and those who ask after the node aren't held up.
            assert_eq!(fixture.send(Call::get("/try/who").by(EVE)).await.text(), "Eve");
            assert_eq!(fixture.send(Call::get("/try/who").by(BOB)).await.text(), "Bob");
            fixture.get("/health/ready").await.expect(200);
            fixture.get("/metrics").await.expect(200);
            // The organisation has four: a second of the colleague waits in vain.
            let stays = fixture.send(Call::get("/try/stay").by(EVE));
            let refused = async {
                tokio::time::sleep(Duration::from_millis(50)).await;
                fixture.send(Call::get("/try/who").by(EVE)).await.problem(429);
            };
            tokio::select! {
                _ = stays => panic!("it never answers"),
                () = refused => {}
            }
            tokio::time::sleep(Duration::from_millis(400)).await;
        };
        let mut answered = 0;
        let many = async {
            let mut all: futures::stream::FuturesUnordered<_> = (0..200).map(|_| stay()).collect();
            while let Some(answer) = futures::StreamExt::next(&mut all).await {
                answer.problem(429);
                answered += 1;
            }
        };
        tokio::select! {
            () = many => panic!("three never answer"),
            () = others => {}
        }
        assert_eq!(answered, 197);
        // Whoever goes away gives the places back.
        let again = (0..3).map(|_| fixture.send(Call::get("/try/who").by(ADA)));
        for answer in join_all(again).await {
            assert_eq!(answer.text(), "Ada");
        }
    }

    async fn a_request_keeps_its_place_until_its_answer_was_taken(backend) {
        let few = ["--Svc:Http:PersonRequests=1", "--Svc:Http:WaitingTime=00:00:00.100"];
        let fixture = Fixture::with_settings(backend, &few).await;
        for _ in 0..5 {
            fixture.send(Call::get("/try/who").by(ADA)).await.expect(200);
        }
        fixture.send(Call::get("/try/panic").by(ADA)).await.expect(500);
        fixture.send(Call::get("/try/who").by(ADA)).await.expect(200);
    }
}
