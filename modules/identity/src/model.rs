//! The stored records.
//!
//! Users and organisations are shared: a person is one in all organisations. All the rest belongs
//! to one organisation, which the data layer adds to every statement.

#![expect(unreachable_pub, reason = "SeaORM makes public items beside each model")]

pub(crate) mod organisation {
    use sea_orm::entity::prelude::*;
    use time::OffsetDateTime;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "identity_organisations")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        pub name: String,
        pub version: i64,
        pub created_at: OffsetDateTime,
        pub updated_at: OffsetDateTime,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod user {
    use sea_orm::entity::prelude::*;
    use time::OffsetDateTime;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "identity_users")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        pub email: String,
        pub email_key: String,
        pub display_name: String,
        pub disabled_at: Option<OffsetDateTime>,
        pub confirmed_at: Option<OffsetDateTime>,
        pub is_machine: bool,
        pub version: i64,
        pub created_at: OffsetDateTime,
        pub updated_at: OffsetDateTime,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod membership {
    use sea_orm::entity::prelude::*;
    use time::OffsetDateTime;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "identity_memberships")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        pub organisation_id: Uuid,
        pub user_id: Uuid,
        pub created_at: OffsetDateTime,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod role {
    use sea_orm::entity::prelude::*;
    use time::OffsetDateTime;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "identity_roles")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        pub organisation_id: Uuid,
        pub name: String,
        pub name_key: String,
        pub description: String,
        pub is_administrator: bool,
        pub version: i64,
        pub created_at: OffsetDateTime,
        pub updated_at: OffsetDateTime,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod role_permission {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "identity_role_permissions")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        pub organisation_id: Uuid,
        pub role_id: Uuid,
        pub permission: String,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod membership_role {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "identity_membership_roles")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        pub organisation_id: Uuid,
        pub membership_id: Uuid,
        pub role_id: Uuid,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod claim {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "identity_claims")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        pub organisation_id: Uuid,
        pub membership_id: Uuid,
        pub name: String,
        pub claim_value: String,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod api_key {
    use sea_orm::entity::prelude::*;
    use time::OffsetDateTime;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "identity_api_keys")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        pub organisation_id: Uuid,
        pub user_id: Uuid,
        pub name: String,
        pub prefix: String,
        pub key_hash: Vec<u8>,
        pub scope: Option<String>,
        pub created_at: OffsetDateTime,
        pub expires_at: Option<OffsetDateTime>,
        pub revoked_at: Option<OffsetDateTime>,
        pub last_used_at: Option<OffsetDateTime>,
    }

    impl ActiveModelBehavior for ActiveModel {}
}
