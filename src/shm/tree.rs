//! The jobs' order: treaps whose links are in the jobs' own blocks.
//!
//! A treap is a search tree by key that is a heap by a random number; here that is a hash of the id, so a
//! tree's shape is a function of its content. Its height is a logarithm of its size, whatever order
//! jobs come in. A change touches a few links near the job and nothing else.

use std::cmp::Ordering;

use super::layout::field;
use super::memory::{Block, Damaged, Memory, Place, Sound};

/// No treap of as many nodes as a link can name is higher, but with a probability that does not matter. A walk
/// that is longer is on a damaged tree.
const MOST_STEPS: usize = 400;

/// A tree's order. The numbers are what a block's `TREE` field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Tree {
    /// Claimable: highest priority, then oldest, then smallest id.
    Ready = 0,
    /// By the time from which it can be claimed.
    Delayed = 1,
    /// By the time at which the claim lapses.
    Reserved = 2,
    /// Dead letters by their id.
    Dead = 3,
}

impl Tree {
    /// The key: the tree's order is that of these.
    pub(super) fn key(self, memory: &Memory, block: Block) -> [i64; 3] {
        let get = |field| memory.get(block, field);
        match self {
            // The priority is turned around without overflow.
            Self::Ready => [!get(field::PRIORITY), get(field::AVAILABLE_AT), get(field::ID)],
            Self::Delayed => [get(field::AVAILABLE_AT), get(field::ID), 0],
            Self::Reserved => [get(field::RESERVED_UNTIL), get(field::ID), 0],
            Self::Dead => [get(field::DEAD_ID), 0, 0],
        }
    }
}

/// The random number of a block: a hash of its id.
fn rank(memory: &Memory, block: Block) -> u64 {
    let mut hash = memory.count(block, field::ID).wrapping_add(0x9E37_79B9_7F4A_7C15);
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    hash ^ (hash >> 31)
}

impl Memory {
    fn left(&self, block: Block) -> Place {
        self.link(block, field::LEFT)
    }

    fn right(&self, block: Block) -> Place {
        self.link(block, field::RIGHT)
    }

    /// Adds a block to the tree whose root is at `place`.
    pub(super) fn insert(&self, tree: Tree, mut place: Place, block: Block) -> Sound<()> {
        let (key, rank_of_block) = (tree.key(self, block), rank(self, block));
        for _ in 0..MOST_STEPS {
            let Some(node) = self.follow(place)? else { break };
            if rank(self, node) < rank_of_block {
                break;
            }
            place = if tree.key(self, node) < key { self.right(node) } else { self.left(node) };
        }
        self.split(tree, self.follow(place)?, key, block)?;
        self.set_link(place, Some(block));
        self.set_small(block, field::TREE, tree as u32);
        Ok(())
    }

    /// Makes the nodes of a tree below `key` the left one of `block`, and the others the right one.
    fn split(&self, tree: Tree, mut node: Option<Block>, key: [i64; 3], block: Block) -> Sound<()> {
        let (mut below, mut above) = (self.left(block), self.right(block));
        for _ in 0..MOST_STEPS {
            let Some(at) = node else {
                self.set_link(below, None);
                self.set_link(above, None);
                return Ok(());
            };
            if tree.key(self, at) < key {
                self.set_link(below, Some(at));
                below = self.right(at);
                node = self.follow(below)?;
            } else {
                self.set_link(above, Some(at));
                above = self.left(at);
                node = self.follow(above)?;
            }
        }
        Err(Damaged("a tree is too high"))
    }

    /// Removes a block, which must be in the tree.
    pub(super) fn remove(&self, tree: Tree, mut place: Place, block: Block) -> Sound<()> {
        let key = tree.key(self, block);
        for _ in 0..MOST_STEPS {
            let node = self.follow(place)?.ok_or(Damaged("a job is not in its tree"))?;
            match tree.key(self, node).cmp(&key) {
                Ordering::Less => place = self.right(node),
                Ordering::Greater => place = self.left(node),
                Ordering::Equal if node == block => return self.join(place, node),
                Ordering::Equal => return Err(Damaged("two jobs have one id")),
            }
        }
        Err(Damaged("a tree is too high"))
    }

    /// Puts a node's two subtrees in its place.
    fn join(&self, mut place: Place, node: Block) -> Sound<()> {
        let (mut left, mut right) = (self.follow(self.left(node))?, self.follow(self.right(node))?);
        for _ in 0..2 * MOST_STEPS {
            match (left, right) {
                (Some(l), Some(r)) if rank(self, l) >= rank(self, r) => {
                    self.set_link(place, left);
                    place = self.right(l);
                    left = self.follow(place)?;
                }
                (Some(_), Some(r)) => {
                    self.set_link(place, right);
                    place = self.left(r);
                    right = self.follow(place)?;
                }
                (one, other) => {
                    self.set_link(place, one.or(other));
                    return Ok(());
                }
            }
        }
        Err(Damaged("a tree is too high"))
    }

    /// The first of the tree.
    pub(super) fn first(&self, root: Place) -> Sound<Option<Block>> {
        Ok(self.first_at(root)?.map(|(_, block)| block))
    }

    /// Removes the first of the tree, which spares the search for it.
    pub(super) fn remove_first(&self, root: Place) -> Sound<()> {
        let (place, block) = self.first_at(root)?.ok_or(Damaged("a tree is empty that should not be"))?;
        self.set_link(place, self.follow(self.right(block))?);
        Ok(())
    }

    /// The first of the tree, and the place that links to it.
    fn first_at(&self, mut place: Place) -> Sound<Option<(Place, Block)>> {
        let Some(mut node) = self.follow(place)? else { return Ok(None) };
        for _ in 0..MOST_STEPS {
            let left = self.left(node);
            match self.follow(left)? {
                Some(next) => (place, node) = (left, next),
                None => return Ok(Some((place, node))),
            }
        }
        Err(Damaged("a tree is too high"))
    }

    /// The first of the tree whose key is `key` or more.
    pub(super) fn first_from(&self, tree: Tree, place: Place, key: [i64; 3]) -> Sound<Option<Block>> {
        let (mut best, mut node) = (None, self.follow(place)?);
        for _ in 0..MOST_STEPS {
            let Some(at) = node else { return Ok(best) };
            if tree.key(self, at) < key {
                node = self.follow(self.right(at))?;
            } else {
                best = Some(at);
                node = self.follow(self.left(at))?;
            }
        }
        Err(Damaged("a tree is too high"))
    }

    /// Visits the tree in order, or backwards, until `visit` says to stop.
    pub(super) fn walk(
        &self,
        place: Place,
        backwards: bool,
        mut visit: impl FnMut(Block) -> Sound<bool>,
    ) -> Sound<()> {
        let (near, far) = if backwards { (field::RIGHT, field::LEFT) } else { (field::LEFT, field::RIGHT) };
        let mut waiting = Vec::with_capacity(64);
        let mut node = self.follow(place)?;
        for _ in 0..=2 * u64::from(self.geometry.blocks) {
            if let Some(at) = node {
                if waiting.len() > MOST_STEPS {
                    return Err(Damaged("a tree is too high"));
                }
                waiting.push(at);
                node = self.follow(self.link(at, near))?;
            } else {
                let Some(at) = waiting.pop() else { return Ok(()) };
                if !visit(at)? {
                    return Ok(());
                }
                node = self.follow(self.link(at, far))?;
            }
        }
        Err(Damaged("a tree has a loop"))
    }
}
