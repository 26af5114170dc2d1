--TEST--
A payload of 10 MB
--FILE--
<?php
require __DIR__ . '/askr.inc';
fresh_queue();

$payload = random_bytes(1000) . str_repeat("\0\xff0123456\n", 1_048_576);
askr_queue_push('q', $payload);
var_dump(strlen($payload) > 10_000_000, askr_queue_list('q', 'pending')[0]['payload'] === $payload);
$job = askr_queue_pop('q');
var_dump($job['payload'] === $payload);
askr_queue_fail($job['id'], null, $payload);
var_dump(askr_failed_list()[0]['exception'] === $payload);
?>
--CLEAN--
<?php require __DIR__ . '/askr.inc'; clean();
--EXPECT--
bool(true)
bool(true)
bool(true)
bool(true)
