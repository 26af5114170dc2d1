<?php

declare(strict_types=1);

return [

    /*
    |--------------------------------------------------------------------------
    | Where the jobs are
    |--------------------------------------------------------------------------
    |
    | "sqlite": in a database on the disk, where they survive a restart of the machine.
    |
    | "memory": in shared memory, which is faster, and which a restart of the machine empties. Web server,
    | workers and cron must then run as one user, or share the segment: see askr.shm_name and askr.shm_mode
    | in the README. How many jobs it holds is set in php.ini too, with askr.queue_memory.
    |
    */

    'queue_tier' => env('ASKR_QUEUE_TIER', 'sqlite'),

    /*
    |--------------------------------------------------------------------------
    | The queue's database
    |--------------------------------------------------------------------------
    |
    | The absolute path of the SQLite file that holds the jobs. Web server, workers and cron must all
    | name the same file, on a local disk, in a folder that each of them can write. The file is made at
    | first use. Do not name the application's own database: a transaction open there would make every
    | push wait for it.
    |
    | Left empty, the setting askr.queue_db of php.ini counts, and without that one
    | storage/app/askr.sqlite. With the tier "memory" it must be empty.
    |
    */

    'queue_db' => env('ASKR_QUEUE_DB'),

    /*
    |--------------------------------------------------------------------------
    | The queue connection "askr"
    |--------------------------------------------------------------------------
    |
    | Added to the application's queue connections, unless config/queue.php defines a connection of that
    | name itself. More connections with 'driver' => 'askr' and these options may stand there; they share
    | the database.
    |
    */

    'connection' => [

        'driver' => 'askr',

        // The queue of jobs that name none.
        'queue' => env('ASKR_QUEUE', 'default'),

        // Seconds for which a worker reserves a job. Then the job counts as abandoned and another worker
        // takes it. So it must be longer than the longest job takes, and longer than the worker's
        // --timeout; or give such jobs the middleware Askr\Laravel\Queue\KeepsReservation.
        'retry_after' => env('ASKR_QUEUE_RETRY_AFTER', 90),

        // Seconds for which an idle worker waits for its queues inside the extension, where a new job wakes
        // it at once, before it sleeps for its --sleep. 0: it only sleeps.
        'block_for' => 0,

        // Whether jobs that were dispatched within a database transaction wait for its commit.
        'after_commit' => false,

        // The priority of jobs that do not say theirs (see Askr\Laravel\Queue\HasPriority). Within a
        // queue, higher is taken first.
        'priority' => 0,

    ],

    /*
    |--------------------------------------------------------------------------
    | Failed jobs
    |--------------------------------------------------------------------------
    |
    | With 'driver' => 'askr' under "failed" in config/queue.php (QUEUE_FAILED_DRIVER=askr), a job that
    | fails for good moves to the dead letters in one transaction: a worker killed meanwhile leaves it in
    | one place. Any other driver works as it does with Laravel's own queues.
    |
    */

];
