<?php

/** Runs one test: `case.php FILE NAME`. Status 77 says that this machine cannot run it. */

declare(strict_types=1);

require __DIR__ . '/harness.php';

file_put_contents(folder('group'), (string) getmypid());
ini_set('askr.queue_db', queue_db());
try {
    (require __DIR__ . "/../$argv[1]")[$argv[2]]();
} catch (CannotRun $e) {
    echo $e->getMessage(), "\n";
    exit(77);
} catch (Throwable $e) {
    echo $e, "\n";
    exit(1);
}
