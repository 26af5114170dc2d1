--TEST--
Dead letters: fail, list, find, retry, forget, flush
--FILE--
<?php
require __DIR__ . '/askr.inc';
fresh_queue();

$id = askr_queue_push('q', "pay\0load");
$job = askr_queue_pop('q');
var_dump(askr_queue_fail($id, 'a-uuid', "what\nwent wrong", $job['attempts']), askr_queue_stats('q')['total']);
askr_queue_fail(askr_queue_push('other', 'without reason'));

[$newest, $oldest] = askr_failed_list();
var_dump(abs(time() - $oldest['failed_at']) < 60, $oldest['id'] === askr_failed_find($oldest['id'])['id']);
var_dump($newest['id'] > $oldest['id']);
foreach ([$oldest, $newest] as $letter) {
    unset($letter['id'], $letter['failed_at']);
    echo json_encode($letter), "\n";
}
var_dump(count(askr_failed_list(1)), askr_failed_list(1, 1)[0]['queue'], askr_failed_list(queue: 'other')[0]['payload']);
var_dump(askr_failed_list(0), askr_failed_list(queue: 'nobody'), askr_failed_find($newest['id'] + 99));

$again = askr_failed_retry($oldest['id'], 2, 5);
var_dump($again > $id, askr_failed_find($oldest['id']), askr_failed_retry($oldest['id']));
$job = askr_queue_list('q', 'pending')[0];
echo json_encode([$job['payload'], $job['priority'], $job['attempts'], $job['max_attempts']]), "\n";

var_dump(askr_failed_forget($newest['id']), askr_failed_forget($newest['id']));

askr_queue_fail($again);
askr_queue_fail(askr_queue_push('q', 'two'));
var_dump(askr_failed_flush(3600), askr_failed_flush(), askr_failed_flush(), askr_failed_list());
?>
--CLEAN--
<?php require __DIR__ . '/askr.inc'; clean();
--EXPECT--
bool(true)
int(0)
bool(true)
bool(true)
bool(true)
{"uuid":"a-uuid","queue":"q","payload":"pay\u0000load","exception":"what\nwent wrong","attempts":1}
{"uuid":null,"queue":"other","payload":"without reason","exception":null,"attempts":0}
int(1)
string(1) "q"
string(14) "without reason"
array(0) {
}
array(0) {
}
NULL
bool(true)
NULL
int(0)
["pay\u0000load",5,0,2]
bool(true)
bool(false)
int(0)
int(2)
int(0)
array(0) {
}
