<?php

declare(strict_types=1);

return [
    'default' => 'sqlite',
    'migrations' => 'migrations',
    'connections' => [
        'sqlite' => [
            'driver' => 'sqlite',
            'database' => storage_path('app.sqlite'),
            'prefix' => '',
            'busy_timeout' => 10000,
            'journal_mode' => 'WAL',
            'transaction_mode' => 'IMMEDIATE',
        ],
    ],
];
