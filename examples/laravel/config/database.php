<?php

declare(strict_types=1);

return [
    'default' => 'sqlite',
    'connections' => [
        'sqlite' => [
            'driver' => 'sqlite',
            'database' => storage_path('app/database.sqlite'),
            'prefix' => '',
            // So that several workers can write.
            'busy_timeout' => 10000,
            'journal_mode' => 'WAL',
            'transaction_mode' => 'IMMEDIATE',
        ],
    ],
    'migrations' => 'migrations',
];
