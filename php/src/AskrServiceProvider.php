<?php

declare(strict_types=1);

namespace Askr\Laravel;

use Askr\Laravel\Queue\Connector;
use Askr\Laravel\Queue\FailedJobProvider;
use Illuminate\Contracts\Foundation\Application;
use Illuminate\Queue\Failed\FailedJobProviderInterface;
use Illuminate\Queue\QueueManager;
use Illuminate\Support\ServiceProvider;

/**
 * Makes `QUEUE_CONNECTION=askr` and `queue.failed.driver` = "askr" work.
 *
 * Nothing here touches the extension: an application boots without it, and only what needs it says so.
 */
final class AskrServiceProvider extends ServiceProvider
{
    private const CONFIG = __DIR__ . '/../config/askr.php';

    public function register(): void
    {
        $this->mergeConfigFrom(self::CONFIG, 'askr');

        $config = $this->app->make('config');
        if (! $config->has('queue.connections.askr')) {
            $config->set('queue.connections.askr', $config->get('askr.connection'));
        }

        $this->app->bind(Extension::class, static fn (Application $app): Extension => new Extension(
            (string) $app->make('config')->get('askr.queue_tier'),
            $app->make('config')->get('askr.queue_db'),
            $app->storagePath('app/askr.sqlite'),
        ));

        $this->callAfterResolving('queue', function (QueueManager $manager): void {
            $manager->addConnector('askr', fn (): Connector => $this->app->make(Connector::class));
        });

        $this->app->extend(
            'queue.failer',
            static function (FailedJobProviderInterface $failer, Application $app): FailedJobProviderInterface {
                return $app->make('config')->get('queue.failed.driver') === 'askr'
                    ? new FailedJobProvider($app->make('config'), $app->make(Extension::class))
                    : $failer;
            },
        );
    }

    public function boot(): void
    {
        if ($this->app->runningInConsole()) {
            $this->publishes([self::CONFIG => $this->app->configPath('askr.php')], 'askr-config');
        }
    }
}
