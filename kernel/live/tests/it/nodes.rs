//! Several nodes on one PostgreSQL database.

use svc_testing::Backend;

use crate::fixture::{Hearing, ada, add_book, start};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_happens_on_one_node_is_heard_on_another() {
    let here = start(Backend::Postgres).await;
    let there = here.another_node().await;
    let late = here.another_node().await;
    here.app().start_workers();
    there.app().start_workers();
    let mut hearing = Hearing::begin(&there.sign_in(&ada()), "set:Books", None).await;
    let ctx = here.context(&ada());
    let mut last = None;
    for title in ["One", "Two"] {
        add_book(&ctx, title, "A").await;
        let heard = hearing.expect("changed").await;
        assert_eq!(heard.data["record"]["title"], title);
        last = heard.id;
    }
    // The browser comes to the other node, and goes on where it was.
    drop(hearing);
    add_book(&ctx, "Three", "A").await;
    let mut again = Hearing::begin(&here.sign_in(&ada()), "set:Books", last.as_deref()).await;
    assert_eq!(again.expect("changed").await.data["record"]["title"], "Three");
    // A node that has read nothing of it yet goes on there as well.
    let mut behind = Hearing::begin(&late.sign_in(&ada()), "set:Books", last.as_deref()).await;
    assert_eq!(behind.expect("changed").await.data["record"]["title"], "Three");
    here.app().stop().await;
    there.app().stop().await;
    late.app().stop().await;
    // A stop ends the streams, too.
    while again.next().await.is_some() {}
}
