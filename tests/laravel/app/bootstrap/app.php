<?php

/*
 * Written so that it boots on every Laravel from 10 on. TEST_STORAGE says where everything is kept, and
 * TEST_CONFIG (JSON, dotted names) overrides the configuration.
 */

declare(strict_types=1);

use Illuminate\Contracts;
use Illuminate\Foundation;

require_once __DIR__ . '/../vendor/autoload.php';

$app = new Foundation\Application(dirname(__DIR__));
$app->singleton(Contracts\Console\Kernel::class, Foundation\Console\Kernel::class);
$app->singleton(Contracts\Debug\ExceptionHandler::class, Foundation\Exceptions\Handler::class);
$app->useStoragePath(getenv('TEST_STORAGE'));
if (method_exists($app, 'dontMergeFrameworkConfiguration')) {
    // Laravel 11 added defaults of its own; what this application has must be the same on all versions.
    $app->dontMergeFrameworkConfiguration();
}
$app->afterBootstrapping(
    Foundation\Bootstrap\LoadConfiguration::class,
    static fn () => $app->make('config')->set(json_decode(getenv('TEST_CONFIG') ?: '[]', true)),
);

return $app;
