<?php

/** Each kind of call once, for valgrind to watch. */

askr_queue_push_many('q', ['', 'x', "\0", str_repeat('y', 10_000)]);
while ($job = askr_queue_pop('q', 60)) {
    askr_queue_renew($job['id']);
    $job['attempts'] < 2 ? askr_queue_release($job['id']) : askr_queue_fail($job['id'], '', 'x');
}
foreach (askr_failed_list(2) as $letter) {
    askr_failed_find(askr_failed_retry($letter['id']));
}
foreach (['pending', 'delayed', 'reserved'] as $state) {
    askr_queue_list('q', $state);
}
foreach ([fn () => askr_queue_push('', 'x'), fn () => askr_queue_push('q', []), fn () => askr_queue_push_many('q', [1])] as $wrong) {
    try {
        $wrong();
    } catch (Error) {
    }
}
ini_set('askr.queue_db', '/nowhere/queue.db');
try {
    askr_queue_names();
} catch (Askr\UnavailableException) {
}
ini_restore('askr.queue_db');
$id = askr_queue_push('h', 'x');
askr_queue_pop('h');
askr_heartbeat_start($id, 2);
for ($end = microtime(true) + 1; microtime(true) < $end; usleep(10_000));
var_dump(askr_heartbeat_alive($id), array_sum(askr_queue_stats('q')) > 0);
askr_info();
echo "done\n";
