--TEST--
A job is handed out max_attempts times; the next pop moves it to the dead letters and goes on
--FILE--
<?php
require __DIR__ . '/askr.inc';
fresh_queue();

$released = askr_queue_push('q', 'released', max_attempts: 2);
askr_queue_push('q', 'lapsed', max_attempts: 1);
askr_queue_push('q', 'fine', priority: -1);
for ($claim = 1; $claim <= 2; $claim++) {
    var_dump(askr_queue_pop('q')['payload'], askr_queue_release($released));
}
askr_queue_pop('q', 0);

var_dump(askr_queue_pop('q', 0)['payload'] ?? null);
foreach (array_reverse(askr_failed_list()) as $letter) {
    echo "$letter[payload], $letter[attempts] attempts, $letter[exception]\n";
}
?>
--CLEAN--
<?php require __DIR__ . '/askr.inc'; clean();
--EXPECT--
string(8) "released"
bool(true)
string(8) "released"
bool(true)
string(4) "fine"
released, 2 attempts, askr: handed out 2 times, as often as max_attempts allows, and never acknowledged: its last claim was released or lapsed.
lapsed, 1 attempts, askr: handed out 1 times, as often as max_attempts allows, and never acknowledged: its last claim was released or lapsed.
