--TEST--
Without a database every function says what to set, and askr_info() still answers
--ENV--
ASKR_QUEUE_DB=
--FILE--
<?php
require __DIR__ . '/askr.inc';

$calls = [
    fn () => askr_queue_push('q', 'x'),
    fn () => askr_queue_push_many('q', ['x']),
    fn () => askr_queue_pop('q'),
    fn () => askr_queue_delete(1),
    fn () => askr_queue_release(1),
    fn () => askr_queue_renew(1),
    fn () => askr_queue_fail(1),
    fn () => askr_queue_size('q'),
    fn () => askr_queue_stats('q'),
    fn () => askr_queue_names(),
    fn () => askr_queue_list('q', 'pending'),
    fn () => askr_queue_clear('q'),
    fn () => askr_failed_list(),
    fn () => askr_failed_find(1),
    fn () => askr_failed_retry(1),
    fn () => askr_failed_forget(1),
    fn () => askr_failed_flush(),
    fn () => askr_heartbeat_start(1, 60, 1),
];
$messages = [];
foreach ($calls as $call) {
    try {
        $call();
    } catch (Askr\UnavailableException $e) {
        $messages[$e->getMessage()] = true;
    }
}
echo count($calls), ' calls: ', implode("\n", array_keys($messages)), "\n";
echo askr_info()['queue']['tier'], "\n";
?>
--EXPECT--
18 calls: askr.queue_db is empty, and this version of askr has no queue in shared memory. Set askr.queue_db in php.ini, or ASKR_QUEUE_DB in the environment, to a file's path
L1
