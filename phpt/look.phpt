--TEST--
size, stats, names, list and clear tell the states apart, and look without claiming
--FILE--
<?php
require __DIR__ . '/askr.inc';
fresh_queue();

echo json_encode(askr_queue_stats('q')), "\n";
var_dump(askr_queue_names(), askr_queue_size('q'));

$pending = askr_queue_push('q', 'pending');
$delayed = askr_queue_push('q', 'delayed', 3600);
$lapsed = askr_queue_push('q', 'lapsed', 0, 1);
askr_queue_pop('q', 0);
$reserved = askr_queue_push('q', 'reserved', 0, 2);
askr_queue_pop('q', 600);
askr_queue_push('another', 'job');

$stats = askr_queue_stats('q');
var_dump($stats['oldest_pending_created_ms'] % 1000, abs($stats['oldest_pending_created_ms'] / 1000 - time()) < 60);
var_dump($stats['oldest_seconds'] >= 0 && $stats['oldest_seconds'] < 60);
unset($stats['oldest_pending_created_ms'], $stats['oldest_seconds']);
echo json_encode($stats), "\n";
var_dump(askr_queue_size('q'));
echo json_encode(askr_queue_names()), "\n";

foreach (['pending', 'delayed', 'reserved'] as $state) {
    echo $state, ': ', json_encode(array_column(askr_queue_list('q', $state), 'payload')), "\n";
}
$job = askr_queue_list('q', 'reserved')[0];
echo implode(', ', array_keys($job)), "\n";
var_dump($job['id'] === $reserved, $job['queue'], $job['attempts'], $job['reserved_until'] > time() + 500);
var_dump(askr_queue_list('q', 'delayed')[0]['reserved_until']);
var_dump(askr_queue_list('q', 'pending', 1, 1)[0]['id'] === $lapsed, askr_queue_list('q', 'pending', 0), askr_queue_list('q', 'pending', 9, 2));

var_dump(askr_queue_clear('q'), askr_queue_clear('q'), askr_queue_size('another'));
?>
--CLEAN--
<?php require __DIR__ . '/askr.inc'; clean();
--EXPECT--
{"pending":0,"delayed":0,"reserved":0,"total":0,"ready":0,"oldest_seconds":0,"oldest_pending_created_ms":null}
array(0) {
}
int(0)
int(0)
bool(true)
bool(true)
{"pending":2,"delayed":1,"reserved":1,"total":4,"ready":2}
int(2)
["another","q"]
pending: ["pending","lapsed"]
delayed: ["delayed"]
reserved: ["reserved"]
id, queue, payload, priority, available_at, reserved_until, attempts, max_attempts, created_at
bool(true)
string(1) "q"
int(1)
bool(true)
NULL
bool(true)
array(0) {
}
array(0) {
}
int(4)
int(0)
int(1)
