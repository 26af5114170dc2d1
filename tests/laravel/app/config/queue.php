<?php

/*
 * As an application that never heard of askr has it, but for the two names.
 */

declare(strict_types=1);

return [
    'default' => 'askr',
    'connections' => [
        'sync' => ['driver' => 'sync'],
        'database' => ['driver' => 'database', 'table' => 'jobs', 'queue' => 'default', 'retry_after' => 90],
    ],
    'batching' => ['database' => 'sqlite', 'table' => 'job_batches'],
    'failed' => ['driver' => 'askr'],
];
