--TEST--
strict_types holds for the functions
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/askr.inc';
fresh_queue();

attempt(fn () => askr_queue_push(12, 'x'));
attempt(fn () => askr_queue_push('q', 1));
attempt(fn () => askr_queue_push('q', 'x', '1'));
attempt(fn () => askr_queue_push('q', 'x', 0, 1.0));
attempt(fn () => askr_queue_pop('q', 60, '0.1'));
attempt(fn () => askr_queue_pop('q', 60, 0));
attempt(fn () => askr_queue_delete('1'));
attempt(fn () => askr_queue_delete(1, '1'));
attempt(fn () => askr_queue_fail(1, 1));
attempt(fn () => askr_failed_list(queue: 1));
?>
--CLEAN--
<?php require __DIR__ . '/askr.inc'; clean();
--EXPECT--
TypeError: askr_queue_push(): Argument #1 ($queue) must be of type string, int given
TypeError: askr_queue_push(): Argument #2 ($payload) must be of type string, int given
TypeError: askr_queue_push(): Argument #3 ($delay) must be of type int, string given
TypeError: askr_queue_push(): Argument #4 ($priority) must be of type int, float given
TypeError: askr_queue_pop(): Argument #3 ($wait) must be of type float, string given
no exception, answer: NULL
TypeError: askr_queue_delete(): Argument #1 ($id) must be of type int, string given
TypeError: askr_queue_delete(): Argument #2 ($attempts) must be of type ?int, string given
TypeError: askr_queue_fail(): Argument #2 ($uuid) must be of type ?string, int given
TypeError: askr_failed_list(): Argument #3 ($queue) must be of type ?string, int given
