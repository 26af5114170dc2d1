--TEST--
askr_queue_delete, release and renew of a claim that holds
--FILE--
<?php
require __DIR__ . '/askr.inc';
fresh_queue();

$id = askr_queue_push('q', 'job');
$job = askr_queue_pop('q', 60);
var_dump(askr_queue_renew($id, 600, $job['attempts']));
$until = askr_queue_list('q', 'reserved')[0]['reserved_until'];
var_dump($until - $job['reserved_until'] >= 540);

var_dump(askr_queue_release($id, 0, $job['attempts']));
var_dump(askr_queue_list('q', 'pending')[0]['attempts']);
var_dump(askr_queue_pop('q')['attempts']);
var_dump(askr_queue_release($id, 3600), askr_queue_pop('q'), askr_queue_stats('q')['delayed']);

var_dump(askr_queue_delete($id), askr_queue_stats('q')['total']);
var_dump(askr_queue_delete($id), askr_queue_release($id), askr_queue_renew($id), askr_queue_fail($id));
var_dump(askr_queue_delete(0), askr_queue_delete(-1), askr_queue_delete(PHP_INT_MAX));
?>
--CLEAN--
<?php require __DIR__ . '/askr.inc'; clean();
--EXPECT--
bool(true)
bool(true)
bool(true)
int(1)
int(2)
bool(true)
NULL
int(1)
bool(false)
int(1)
bool(false)
bool(false)
bool(false)
bool(false)
bool(false)
bool(false)
bool(false)
