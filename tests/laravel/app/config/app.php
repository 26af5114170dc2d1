<?php

declare(strict_types=1);

use Illuminate\Support\ServiceProvider;

return [
    'name' => 'Test',
    'env' => 'testing',
    'key' => 'base64:' . base64_encode(str_repeat('k', 32)),
    'cipher' => 'AES-256-CBC',
    'timezone' => 'UTC',
    'locale' => 'en',
    'fallback_locale' => 'en',
    'maintenance' => ['driver' => 'file'],
    'providers' => ServiceProvider::defaultProviders()->toArray(),
];
