from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("stores", "0015_queue_names"),
    ]

    operations = [
        migrations.AddField(
            model_name="actioncomment",
            name="file",
            field=models.IntegerField(default=0),
        ),
        migrations.AddField(
            model_name="actioncomment",
            name="path",
            field=models.TextField(blank=True, default=""),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="actioncomment",
            name="side",
            field=models.CharField(blank=True, default="", max_length=6),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="actioncomment",
            name="line",
            field=models.IntegerField(default=0),
        ),
        migrations.AddField(
            model_name="reviewpolicy",
            name="in_force",
            field=models.BooleanField(default=True),
        ),
    ]
