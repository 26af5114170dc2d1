--TEST--
A heartbeat keeps a claim alive while the handler never yields, and learns when it was lost
--FILE--
<?php
require __DIR__ . '/askr.inc';
fresh_queue();

$id = askr_queue_push('q', 'long work');
$job = askr_queue_pop('q', 2);
var_dump(askr_heartbeat_alive($id), askr_heartbeat_start($id, 2), askr_heartbeat_alive($id));
for ($end = hrtime(true) + 3_500_000_000; hrtime(true) < $end; $sum = array_sum(range(1, 1000)));
var_dump(askr_heartbeat_alive($id));
echo other_process("var_dump(askr_queue_pop('q'));");

var_dump(askr_heartbeat_stop($id), askr_heartbeat_stop($id), askr_heartbeat_alive($id));
// Now it lapses, and somebody else takes it.
echo other_process("var_dump(askr_queue_pop('q', 60, 30)['attempts']);");
var_dump(askr_heartbeat_start($id, 60), askr_heartbeat_start($id, 60, 1), askr_queue_delete($id));

// A claim that is given back elsewhere is noticed by the next renewal.
$id = askr_queue_push('other', 'lost');
askr_queue_pop('other', 60);
var_dump(askr_heartbeat_start($id, 2));
other_process("askr_queue_release($id);");
for ($end = hrtime(true) + 10_000_000_000; askr_heartbeat_alive($id) && hrtime(true) < $end; usleep(10_000));
var_dump(askr_heartbeat_alive($id), askr_heartbeat_stop($id));

// Whatever ends the claim ends its heartbeat.
foreach (['askr_queue_release', 'askr_queue_fail', 'askr_queue_delete'] as $end) {
    $id = askr_queue_push('end', $end);
    askr_queue_pop('end');
    var_dump(askr_heartbeat_start($id), $end($id), askr_heartbeat_stop($id));
    askr_queue_clear('end');
}
attempt(fn () => askr_heartbeat_start(12345));
var_dump(askr_heartbeat_start(12345, attempts: 1));
// One that runs when the script ends.
$id = askr_queue_push('q', 'x');
askr_queue_pop('q');
var_dump(askr_heartbeat_start($id));
?>
--CLEAN--
<?php require __DIR__ . '/askr.inc'; clean();
--EXPECT--
bool(false)
bool(true)
bool(true)
bool(true)
NULL
bool(true)
bool(false)
bool(false)
int(2)
bool(false)
bool(false)
bool(false)
bool(true)
bool(false)
bool(true)
bool(true)
bool(true)
bool(false)
bool(true)
bool(true)
bool(false)
bool(true)
bool(true)
bool(false)
ValueError: askr_heartbeat_start: job 12345 was not popped by this process. Pop it here, or name the claim in $attempts
bool(false)
bool(true)
