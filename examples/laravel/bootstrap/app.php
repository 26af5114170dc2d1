<?php

declare(strict_types=1);

use Illuminate\Foundation\Application;

$app = Application::configure(basePath: dirname(__DIR__))->withExceptions()->create();

// config/ says all that this application needs.
$app->dontMergeFrameworkConfiguration();

return $app;
