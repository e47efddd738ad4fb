//! Operations on collections, and moves of collections and spaces.

use docs_core::{
    model::{CollectionId, CreateCollection, MoveContent, SpaceId, TransferContent, UpdateCollection},
    platform::Reach,
};
use serde_json::{Map, Value, json};

use super::{
    super::{
        known::{id, one},
        program::What,
    },
    Act, Answer, read, told, walk,
};

impl Act<'_> {
    pub(super) async fn collections(&mut self, what: What) -> Answer {
        let (p, me) = (self.p, self.me.clone());
        if matches!(what, What::ListCollections | What::CreateCollection) {
            return self.collections_of_org(what).await;
        }
        if matches!(what, What::MoveSpace | What::TransferSpace) {
            let space: SpaceId = self.known.space_id(&mut self.dice, what);
            if what == What::TransferSpace {
                return Ok(told(p.as_actor(&me).space(&space).transfer(self.transfer()?).await));
            }
            let to: MoveContent = read(self.target())?;
            return Ok(told(p.as_actor(&me).space(&space).move_to(to).await));
        }
        let collection: CollectionId = id(one(&mut self.dice, &self.known.collections));
        Ok(match what {
            What::GetCollection => told(p.as_actor(&me).collection(&collection).get().await),
            What::DeleteCollection => told(p.as_actor(&me).collection(&collection).delete().await),
            What::TransferCollection => {
                told(p.as_actor(&me).collection(&collection).transfer(self.transfer()?).await)
            }
            What::MoveCollection => {
                let to: MoveContent = read(self.target())?;
                told(p.as_actor(&me).collection(&collection).move_to(to).await)
            }
            What::ListCollectionSpaces => {
                let list = walk(self.list(), |page| {
                    let (me, collection) = (me.clone(), collection.clone());
                    async move { p.as_actor(&me).collection(&collection).list_spaces(&page).await }
                });
                list.await
            }
            _ => {
                let change: UpdateCollection = read(self.collection_change())?;
                told(p.as_actor(&me).collection(&collection).update(change).await)
            }
        })
    }

    async fn collections_of_org(&mut self, what: What) -> Answer {
        let (p, me) = (self.p, self.me.clone());
        let org = self.known.org(&mut self.dice);
        if what == What::CreateCollection {
            let mut new = Map::new();
            let title = self.text();
            self.field(&mut new, "title", &[title.into(), "Guides".into()]);
            new.retain(|_, value| !value.is_null());
            if self.dice.chance(60) {
                new.insert("parent".to_owned(), one(&mut self.dice, &self.known.collections).into());
            }
            let new: CreateCollection = read(new)?;
            return Ok(told(p.as_actor(&me).org(&org).collections().create(new).await));
        }
        let reach = *self.dice.of(&[Reach::Nested, Reach::Nested, Reach::Direct]);
        let list = walk(self.list(), |page| {
            let (me, org) = (me.clone(), org.clone());
            async move { p.as_actor(&me).org(&org).collections().list(reach, &page).await }
        });
        Ok(list.await)
    }

    fn collection_change(&mut self) -> Value {
        let mut change = Map::new();
        let text = self.text();
        self.field(&mut change, "title", &[text.into(), "Guides".into()]);
        self.field(&mut change, "description", &[text.into(), "All of them".into()]);
        let levels = ["inherit", "inherit", "read", "edit", "create", "wrong"].map(Value::from);
        self.field(&mut change, "defaultLevel", &levels);
        if self.dice.chance(85) {
            change.retain(|name, value| !value.is_null() || name != "title");
        }
        change.into()
    }

    /// Draws the target of a move.
    fn target(&mut self) -> Value {
        let mut to = Map::new();
        match self.dice.below(10) {
            0..=2 => {}
            3..=4 => drop(to.insert("parent".to_owned(), Value::Null)),
            _ => {
                let parent = one(&mut self.dice, &self.known.collections);
                to.insert("parent".to_owned(), parent.into());
            }
        }
        if self.dice.chance(60) {
            let neighbour = if self.dice.chance(60) {
                json!({ "type": "space", "space": self.known.space_id(&mut self.dice, What::MoveSpace).as_str() })
            } else {
                json!({ "type": "collection", "collection": one(&mut self.dice, &self.known.collections) })
            };
            let side = *self.dice.of(&["before", "after"]);
            let mut position = Map::new();
            position.insert(side.to_owned(), neighbour);
            to.insert("position".to_owned(), position.into());
        }
        to.into()
    }

    fn transfer(&mut self) -> std::result::Result<TransferContent, Value> {
        read(json!({ "organization": self.known.org(&mut self.dice).as_str() }))
    }
}
