<?php

declare(strict_types=1);

namespace Askr\Laravel\Tests;

use App\Jobs\Probe;
use App\Record;
use Askr\Laravel\AskrServiceProvider;
use Askr\UnavailableException;
use Illuminate\Support\Facades\Artisan;
use InvalidArgumentException;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;

/**
 * From "composer require" to the first job, and what is said when it does not work.
 */
#[Group('sqlite')]
final class SetupTest extends LaravelTestCase
{
    public function testThePackageIsDiscoveredAndTheConnectionThere(): void
    {
        $this->assertArrayHasKey(AskrServiceProvider::class, $this->app->getLoadedProviders());
        $this->assertSame('askr', $this->queue()->getConnectionName());
        $this->assertSame(90, (int) config('queue.connections.askr.retry_after'));

        Probe::dispatch('a');
        $this->workUntilEmpty();
        $this->assertSame(['a start 1', 'a done 1'], Record::lines());
        $this->assertFileExists("$this->storage/app/askr.sqlite");
    }

    public function testTheApplicationsOwnConnectionWins(): void
    {
        $this->configure(['queue.connections.askr' => ['driver' => 'askr', 'queue' => 'mine']]);

        $this->assertSame('mine', $this->queue()->getQueue(null));
    }

    public function testTheDatabaseIsTheConfiguredOne(): void
    {
        $this->configure(['askr.queue_db' => "$this->storage/elsewhere.sqlite"]);
        $this->queue()->push(new Probe('a'));

        $this->assertFileExists("$this->storage/elsewhere.sqlite");
        $this->assertFileDoesNotExist("$this->storage/app/askr.sqlite");
        $this->workUntilEmpty();
        $this->assertSame(['a start 1', 'a done 1'], Record::lines());
    }

    public function testTheDatabaseOfPhpIniCountsWhereTheApplicationNamesNone(): void
    {
        $monitor = $this->start(['queue:monitor', 'default'], ['-d', "askr.queue_db=$this->storage/ini.sqlite"]);

        $this->assertSame(0, $monitor->wait(), $monitor->output());
        $this->assertFileExists("$this->storage/ini.sqlite");
    }

    public function testACachedConfigurationKeepsTheDatabase(): void
    {
        $database = "$this->storage/cached.sqlite";
        putenv("APP_CONFIG_CACHE=$this->storage/config.php");
        try {
            // Cached with the variable set, as .env does; gone afterwards, as .env is then not read.
            putenv("ASKR_QUEUE_DB=$database");
            $this->artisan('config:cache');
            putenv('ASKR_QUEUE_DB');
            $this->artisan('queue:monitor', 'default');
        } finally {
            putenv('ASKR_QUEUE_DB');
            putenv('APP_CONFIG_CACHE');
        }

        $this->assertFileExists($database);
    }

    public function testTheTierInMemoryIsAChoice(): void
    {
        $this->configure(['askr.queue_tier' => 'memory']);
        $this->queue()->push(new Probe('a'));
        $this->workUntilEmpty();

        $this->assertSame(['a start 1', 'a done 1'], Record::lines());
        $this->assertSame('L1', askr_info()['queue']['tier']);
        $this->assertFileDoesNotExist("$this->storage/app/askr.sqlite");
    }

    public function testTheApplicationsChoiceOfMemoryIsStrongerThanPhpIni(): void
    {
        $this->configure(['askr.queue_tier' => 'memory']);
        $this->queue()->push(new Probe('a'));
        $ini = "$this->storage/ini.sqlite";
        $monitor = $this->start(['queue:monitor', 'default'], ['-d', "askr.queue_db=$ini"]);

        $this->assertSame(0, $monitor->wait(), $monitor->output());
        $this->assertStringContainsString('[1]', $monitor->output());
        $this->assertFileDoesNotExist($ini);
    }

    /**
     * @param array<string, mixed> $config
     */
    #[DataProvider('contradictions')]
    public function testAContradictionIsNamed(array $config, ?string $environment, string $message): void
    {
        putenv($environment === null ? 'ASKR_QUEUE_DB' : "ASKR_QUEUE_DB=$environment");
        try {
            $this->configure($config);
            $this->queue();
            $this->fail('nothing was said');
        } catch (InvalidArgumentException $e) {
            $this->assertMatchesRegularExpression($message, $e->getMessage());
        } finally {
            putenv('ASKR_QUEUE_DB');
        }
    }

    /**
     * @return array<string, array{array<string, mixed>, string|null, string}>
     */
    public static function contradictions(): array
    {
        $both = '~"memory".*"/some/queue.db".*Remove askr.queue_tier~s';

        return [
            'memory with a path' => [['askr.queue_tier' => 'memory', 'askr.queue_db' => '/some/queue.db'], null, $both],
            'memory with a path that only the extension reads' => [
                ['askr.queue_tier' => 'memory', 'askr.queue_db' => null],
                '/some/queue.db',
                $both,
            ],
            'another tier' => [['askr.queue_tier' => 'redis'], null, '~"sqlite" or "memory", "redis" given~'],
        ];
    }

    public function testWithoutTheExtensionTheFirstUseSaysWhatToDo(): void
    {
        // The extension comes from this folder of settings.
        $bare = ['env', '-u', 'PHP_INI_SCAN_DIR'];

        $this->assertSame(0, $this->start(['--version'], before: $bare)->wait(), $this->outputs());

        $monitor = $this->start(['queue:monitor', 'default'], before: $bare);
        $this->assertNotSame(0, $monitor->wait());
        $message = preg_replace('/\s+/', '', $monitor->output());
        $this->assertStringContainsString('ThePHPextension"askr"isnotloaded', $message);
        $this->assertStringContainsString('"extension=askr.so"', $message);
    }

    /**
     * @param array<string, mixed> $options
     */
    #[DataProvider('wrongOptions')]
    public function testAWrongOptionIsNamed(array $options, string $option): void
    {
        $this->configure(['queue.connections.wrong' => ['driver' => 'askr', ...$options]]);

        $this->expectException(InvalidArgumentException::class);
        $this->expectExceptionMessageMatches("/\"$option\".*whole number.*config\/queue.php/s");
        $this->queue('wrong');
    }

    /**
     * @return array<string, array{array<string, mixed>, string}>
     */
    public static function wrongOptions(): array
    {
        return [
            'retry_after of 0' => [['retry_after' => 0], 'retry_after'],
            'retry_after in words' => [['retry_after' => 'a minute'], 'retry_after'],
            'block_for below 0' => [['block_for' => -1], 'block_for'],
            'priority in words' => [['priority' => 'high'], 'priority'],
        ];
    }

    public function testAPathThatCannotBeUsedIsNamed(): void
    {
        $this->configure(['askr.queue_db' => "$this->storage/missing/queue.sqlite"]);

        $this->expectException(UnavailableException::class);
        $this->expectExceptionMessageMatches('~missing/queue.sqlite~');
        $this->queue()->push(new Probe('a'));
    }

    public function testTheConfigurationCanBePublished(): void
    {
        $this->app->useConfigPath("$this->storage/config");
        $this->app->register(AskrServiceProvider::class, true);
        Artisan::call('vendor:publish', ['--tag' => 'askr-config']);

        $this->assertArrayHasKey('queue_db', require "$this->storage/config/askr.php");
    }
}
