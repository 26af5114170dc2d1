--TEST--
askr_queue_pop claims the best job, with everything that a worker needs
--FILE--
<?php
require __DIR__ . '/askr.inc';
fresh_queue();

var_dump(askr_queue_pop('q'));

$id = askr_queue_push('q', 'the payload', 0, 0, 9);
$before = time();
$job = askr_queue_pop('q', 30);
echo implode(', ', array_keys($job)), "\n";
var_dump($job['id'] === $id, $job['attempts'], $job['payload'], $job['queue'], $job['max_attempts']);
var_dump($job['reserved_until'] >= $before + 30, $job['reserved_until'] <= time() + 30);
var_dump($job['created_at'] <= $before, $job['created_at'] > $before - 60);
var_dump(askr_queue_pop('q'));

askr_queue_push('p', 'low', 0, -1);
askr_queue_push('p', 'normal, older');
askr_queue_push('p', 'normal, newer');
askr_queue_push('p', 'high, but delayed', 3600, 10);
askr_queue_push('p', 'high', 0, 5);
while ($job = askr_queue_pop('p')) {
    echo $job['payload'], "\n";
}
?>
--CLEAN--
<?php require __DIR__ . '/askr.inc'; clean();
--EXPECT--
NULL
id, attempts, payload, queue, max_attempts, reserved_until, created_at
bool(true)
int(1)
string(11) "the payload"
string(1) "q"
int(9)
bool(true)
bool(true)
bool(true)
bool(true)
NULL
high
normal, older
normal, newer
low
