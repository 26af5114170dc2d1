--TEST--
Queue names are bytes: two different ones never meet
--FILE--
<?php
require __DIR__ . '/askr.inc';
fresh_queue();

$long = str_repeat('n', 9_999);
$names = ["\xff", "\xfe", "a\0b", "a\0c", "a", "A", "a ", "\0", '0', '00', "\u{e9}", "e\u{301}", "{$long}1", "{$long}2"];
foreach ($names as $at => $name) {
    askr_queue_push($name, (string) $at);
}
foreach ($names as $at => $name) {
    var_dump(
        askr_queue_stats($name)['total'] === 1
        && askr_queue_list($name, 'pending')[0]['queue'] === $name
        && askr_queue_pop($name)['payload'] === (string) $at,
    );
}
sort($names, SORT_STRING);
var_dump(askr_queue_names() === $names);
$cleared = array_sum(array_map('askr_queue_clear', $names));
var_dump($cleared === count($names));

$calls = [
    fn () => askr_queue_push('', 'x'),
    fn () => askr_queue_push_many('', ['x']),
    fn () => askr_queue_pop(''),
    fn () => askr_queue_size(''),
    fn () => askr_queue_stats(''),
    fn () => askr_queue_list('', 'pending'),
    fn () => askr_queue_clear(''),
    fn () => askr_failed_list(queue: ''),
];
array_map('attempt', $calls);
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
bool(true)
bool(true)
ValueError: askr_queue_push(): Argument #1 ($queue) must not be empty
ValueError: askr_queue_push_many(): Argument #1 ($queue) must not be empty
ValueError: askr_queue_pop(): Argument #1 ($queue) must not be empty
ValueError: askr_queue_size(): Argument #1 ($queue) must not be empty
ValueError: askr_queue_stats(): Argument #1 ($queue) must not be empty
ValueError: askr_queue_list(): Argument #1 ($queue) must not be empty
ValueError: askr_queue_clear(): Argument #1 ($queue) must not be empty
ValueError: askr_failed_list(): Argument #3 ($queue) must not be empty
