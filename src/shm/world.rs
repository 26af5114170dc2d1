//! One world: when a segment's file is removed beneath the processes that use it, they all go on in the one that
//! has its name afterwards, and what was in the old one moves there.

use super::layout::{field, header, kind};
use super::memory::{Block, Memory, Sound};
use super::operations::{erase, forget};
use super::queue::hold;
use super::segment::Segment;
use super::{Options, layout};
use crate::store::{Error, Kind, Result};

/// Goes over to the segment that has the name now, making it if there is none. The first process that does moves
/// the jobs and dead letters, with their ids and their claims; the others find them there. One that is
/// killed meanwhile leaves the rest to the next: a job is in the new segment before it leaves the old.
pub(super) fn follow(options: &Options, segment: &mut Segment) -> Result<()> {
    let new = Segment::open(options)?;
    if new.is(segment) {
        // It has its name again.
        return Ok(());
    }
    let old_held = hold(options, segment)?;
    let old = old_held.memory();
    if old.head(header::MOVED) == 0 {
        let new_held = hold(options, &new)?;
        let moved = move_all(old, new_held.memory()).map_err(|damage| {
            Error::new(Kind::Corrupt, format!("a removed segment is damaged: {}", damage.0)).at(new.path())
        })?;
        if !moved {
            return Err(Error::new(Kind::Full, "the segment was removed, and the new one has no room for its jobs")
                .at(new.path())
                .remedy("They stay in the old one while this process runs. Make room, or set askr.queue_memory higher"));
        }
        old.set_head(header::MOVED, 1);
    }
    drop(old_held);
    *segment = new;
    Ok(())
}

/// Moves everything; false when there was no room for all of it.
fn move_all(old: &Memory, new: &Memory) -> Sound<bool> {
    for number in 1..=u32::try_from(old.head(header::USED)).unwrap_or(u32::MAX).min(old.geometry.blocks) {
        let Some(block) = old.block(number) else { continue };
        let (kind_of_block, change) = old.state(block);
        let exists = matches!(kind_of_block, kind::JOB | kind::DEAD) && change <= old.head(header::COMMITTED);
        if !exists {
            continue;
        }
        if !copy(old, block, kind_of_block, new)? {
            return Ok(false);
        }
        if kind_of_block == kind::JOB { erase(old, block)? } else { forget(old, block)? }
    }
    Ok(true)
}

/// Copies one job or dead letter, unless it is there already; false when there is no room.
fn copy(old: &Memory, block: Block, kind_of_block: u64, new: &Memory) -> Sound<bool> {
    let is_dead = kind_of_block == kind::DEAD;
    let (id_field, counter) =
        if is_dead { (field::DEAD_ID, header::NEXT_DEAD_ID) } else { (field::ID, header::NEXT_ID) };
    let id = old.get(block, id_field);
    if new.by_id(kind_of_block, id)?.is_some() {
        return Ok(true);
    }
    let name = old.bytes(old.queue_of(block)?)?;
    let payload = old.bytes(block)?;
    let mut why = Vec::new();
    if is_dead {
        let (uuid, exception) = old.reason_lengths(block)?;
        old.read_chain(old.link(block, field::WHY), uuid + exception, &mut why)?;
    }
    let needed = 2
        + Memory::chain_blocks(name.len())
        + Memory::chain_blocks(payload.len())
        + Memory::whole_chain_blocks(why.len() as u64);
    if new.free() < needed {
        return Ok(false);
    }
    let queue = new.queue_or_new(&name)?;
    let copied = new.new_with_bytes(&payload)?;
    for field in layout::field::COPIED {
        new.set(copied, field, old.get(block, field));
    }
    new.set_link(new.link(copied, field::QUEUE), Some(queue));
    new.write_chain(new.link(copied, field::WHY), &why)?;
    new.set_state(copied, kind_of_block, 0);
    new.raise(counter, id);
    if is_dead {
        new.file_dead(copied)?
    } else {
        new.file_job_at(copied, i64::MIN)?
    }
    Ok(true)
}
