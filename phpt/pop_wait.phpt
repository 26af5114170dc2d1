--TEST--
askr_queue_pop waits as long as it was told, and for a delayed job until its time
--FILE--
<?php
require __DIR__ . '/askr.inc';
fresh_queue();

$start = hrtime(true);
var_dump(askr_queue_pop('q', wait: 0.3));
$seconds = (hrtime(true) - $start) / 1e9;
var_dump($seconds >= 0.3, $seconds < 5);

askr_queue_push('q', 'in a second', 1);
var_dump(askr_queue_pop('q'));
var_dump(askr_queue_pop('q', 60, INF)['payload']);

askr_queue_push('q', 'ready');
var_dump(askr_queue_pop('q', 60, 1e308)['payload']);
?>
--CLEAN--
<?php require __DIR__ . '/askr.inc'; clean();
--EXPECT--
NULL
bool(true)
bool(true)
NULL
string(11) "in a second"
string(5) "ready"
