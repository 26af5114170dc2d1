--TEST--
A claim that was given back or taken over can do nothing more to the job
--FILE--
<?php
require __DIR__ . '/askr.inc';
fresh_queue();

$id = askr_queue_push('q', 'job');
$old = askr_queue_pop('q', 0)['attempts'];
$new = askr_queue_pop('q', 600)['attempts'];
var_dump($old, $new);

// Named, the lapsed claim is refused everything.
var_dump(
    askr_queue_delete($id, $old),
    askr_queue_release($id, 0, $old),
    askr_queue_renew($id, 60, $old),
    askr_queue_fail($id, null, 'late', $old),
);
var_dump(askr_queue_stats('q')['reserved'], askr_failed_list());

// Not named, the claim is the one that this process holds: the newer.
var_dump(askr_queue_release($id));
// It was given back, so it holds the job no more, also while nobody else has it.
var_dump(askr_queue_delete($id), askr_queue_delete($id, $new), askr_queue_size('q'));

// A lapsed claim that nobody took over may still acknowledge, but not be revived.
$last = askr_queue_pop('q', 0)['attempts'];
var_dump(askr_queue_renew($id, 60, $last), askr_queue_delete($id, $last));

// For a job that this process never popped, the plain form by id.
$other = askr_queue_push('q', 'never popped here');
var_dump(askr_queue_delete($other));
?>
--CLEAN--
<?php require __DIR__ . '/askr.inc'; clean();
--EXPECT--
int(1)
int(2)
bool(false)
bool(false)
bool(false)
bool(false)
int(1)
array(0) {
}
bool(true)
bool(false)
bool(false)
int(1)
bool(false)
bool(true)
bool(true)
