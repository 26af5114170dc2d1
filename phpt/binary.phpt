--TEST--
Payloads, uuids and reasons of any bytes come back unchanged
--FILE--
<?php
require __DIR__ . '/askr.inc';
fresh_queue();

$all = implode('', array_map('chr', range(0, 255)));
$payloads = ['', "\0", "\xff", "a\0b", $all, "\xc3\x28", str_repeat($all, 100)];
askr_queue_push_many('q', $payloads);
foreach ($payloads as $payload) {
    $job = askr_queue_pop('q');
    var_dump($job['payload'] === $payload);
    askr_queue_fail($job['id'], $payload, $payload);
    $letter = askr_failed_list(1)[0];
    var_dump([$letter['payload'], $letter['uuid'], $letter['exception']] === [$payload, $payload, $payload]);
}
?>
--CLEAN--
<?php require __DIR__ . '/askr.inc'; clean();
--EXPECT--
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
