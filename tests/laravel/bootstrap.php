<?php

declare(strict_types=1);

require getenv('TEST_APP') . '/vendor/autoload.php';
require __DIR__ . '/Process.php';
require __DIR__ . '/LaravelTestCase.php';
